import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAssetsUrl } from './assets-url.ts'

const aws = { kind: 's3', bucket: 'pictures', prefix: '', region: 'eu-1', endpoint: undefined }

test('a folder or a bucket is read as it is written', () => {
  for (const [text, expected] of [
    ['file:./pictures', { kind: 'file', folder: './pictures' }],
    ['file:pictures', { kind: 'file', folder: 'pictures' }],
    ['file:../my%20pictures', { kind: 'file', folder: '../my pictures' }],
    ['file:///var/lib/pictures', { kind: 'file', folder: '/var/lib/pictures' }],
    ['file:/var/lib/my%20pictures', { kind: 'file', folder: '/var/lib/my pictures' }],
    ['s3://pictures?region=eu-1', aws],
    ['s3://pictures/?region=eu-1', aws],
    ['s3://pictures/a/b/?region=eu-1', { ...aws, prefix: 'a/b' }],
    [
      's3://pictures?region=auto&endpoint=https://x.example.com',
      { ...aws, region: 'auto', endpoint: 'https://x.example.com' },
    ],
    [
      's3://pictures/a?endpoint=http://127.0.0.1:9000/',
      { ...aws, prefix: 'a', region: 'us-east-1', endpoint: 'http://127.0.0.1:9000' },
    ],
    [
      's3://pictures?endpoint=https%3A%2F%2Fs3.example.com%2Fbase',
      { ...aws, region: 'us-east-1', endpoint: 'https://s3.example.com/base' },
    ],
  ] as const)
    assert.deepEqual(parseAssetsUrl(text), expected, text)
})

test('what can’t be meant is refused with what to write instead', () => {
  for (const [text, message] of [
    ['', /expected file:\.\/pictures/],
    ['./pictures', /expected file:/],
    ['https://bucket.s3.amazonaws.com', /https: is none/],
    ['file:', /names no folder/],
    ['file://pictures/x', /three slashes/],
    ['file:///', /root folder/],
    ['file:./a?b', /%3F/],
    ['file:./%zz', /%25/],
    ['s3:pictures', /names no bucket/],
    ['s3:///pictures', /names no bucket/],
    ['s3://Pictures?region=eu-1', /can't be a bucket/],
    ['s3://ab?region=eu-1', /can't be a bucket/],
    ['s3://pictures', /names no region/],
    ['s3://pictures?regoin=eu-1', /Did you mean region\?/],
    ['s3://pictures?region=eu-1&region=eu-2', /twice/],
    ['s3://pictures?region=EU 1', /can't be a region/],
    ['s3://pictures/a%20b?region=eu-1', /can't be a folder/],
    ['s3://pictures/a//b?region=eu-1', /can't be a folder/],
    ['s3://pictures:9000?region=eu-1', /\?endpoint=/],
    ['s3://pictures?endpoint=minio:9000', /https:\/\/ or http:\/\//],
    ['s3://pictures?endpoint=http://x/?y=1', /of its own/],
  ] as const)
    assert.throws(() => parseAssetsUrl(text), { message }, text)
})

test('credentials in the URL are refused and not repeated', () => {
  for (const text of [
    's3://AKIA:hushhush@pictures?region=eu-1',
    's3://pictures?endpoint=https://AKIA:hushhush@x.example.com',
  ])
    assert.throws(
      () => parseAssetsUrl(text),
      (error: Error) => /AWS_ACCESS_KEY_ID/.test(error.message) && !/hush|AKIA/.test(error.message),
    )
})
