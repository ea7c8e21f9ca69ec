/** A page's output is compared value by value: what a page shows wrongly is found, what may differ is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atPorts, difference } from '#test/support/docs-output.ts'

const place = { folder: '/tmp/clone/torana', publicPort: 31_007, controlPort: 31_008 }

const RIGHT: readonly (readonly [string, string, string])[] = [
  ['the same JSON in another layout', '{ "max_tokens": 36 }', '{"max_tokens":36}'],
  [
    'an id, a time and a signature',
    'job 01a1ec34-e55c-741d-bc6a-9cb8909310f6 at 2026-11-18 01:47, exp=1795050653',
    'job 01a1ec99-0000-741d-bc6a-9cb8909310f6 at 2026-12-24 23:59:01, exp=1799999999',
  ],
  ['a time in JSON', '{"created": 1794964820}', '{"created":1794999999}'],
  ['a key', 'tr_3fAg6GCx66VBATKhPVLu78Cyslye4On3_8c5c9f3c', 'tr_AAAg6GCx66VBATKhPVLu78Cyslye4On3_00005555'],
  ['a key that the page leaves out', 'Key  tr_…', 'Key  tr_AAAg6GCx66VBATKhPVLu78Cyslye4On3_00005555'],
  ['the end of a list', '{"data": [1, 2, "…"]}', '{"data":[1,2,3,4]}'],
  ['the middle of a list, without quotes', '{"data": [1, …, 4]}', '{"data":[1,2,3,4]}'],
  ['other fields of an object', '{"id": 1, …}', '{"id":1,"more":2}'],
  ['a part of a text', '{"b64_json": "iVBORw…"}', '{"b64_json":"iVBORw0KGgoAAAA"}'],
  ['lines left out', 'first\n…\nlast', 'first\nsecond\nthird\nlast\n'],
  ['columns of another width', 'key  secret\na    b', 'key        secret\na          b'],
  [
    'the port and the folder of the run',
    'http://127.0.0.1:8081/metrics in /home/ada/torana/.torana',
    'http://127.0.0.1:31008/metrics in /tmp/clone/torana/.torana',
  ],
  [
    'headers that the page leaves out',
    'HTTP/1.1 200 OK\nx-torana-attempts: 1\n\n{"a": 1}',
    'HTTP/1.1 200 OK\r\ndate: now\r\nx-torana-attempts: 1\r\n\r\n{"a":1}',
  ],
]
for (const [name, shown, printed] of RIGHT)
  test(`may differ: ${name}`, () => assert.equal(difference(shown, printed, place), undefined))

const WRONG: readonly (readonly [string, string, string, RegExp])[] = [
  [
    'a number in JSON',
    '{"max_tokens": 12, "dropped": []}',
    '{"max_tokens":36,"dropped":[]}',
    /- {3}"max_tokens": 12[\s\S]*\+ {3}"max_tokens": 36|\+ {3}"max_tokens": 36[\s\S]*- {3}"max_tokens": 12/,
  ],
  ['a number in a text', 'torana.yaml: 2 models', 'torana.yaml: 3 models', /\+ torana.yaml: 3 models/],
  ['a missing field', '{"id": 1}', '{"id":1,"more":2}', /\+ {3}"more": 2/],
  ['a field that does not exist', '{"id": 1, "more": 2}', '{"id":1}', /- {3}"more": 2/],
  ['a list that ends too early', '[1, 2]', '[1,2,3]', /\+ {3}3/],
  ['a value after a gap', '[1, "…", 9]', '[1,2,3,4]', /- {3}9/],
  ['a line left out silently', 'first\nlast', 'first\nsecond\nlast', /\+ second/],
  ['a status', 'HTTP/1.1 200 OK', 'HTTP/1.1 404 Not Found\r\n\r\n{}', /\+ HTTP\/1.1 404/],
  [
    'a header',
    'HTTP/1.1 200 OK\nx-torana-attempts: 1',
    'HTTP/1.1 200 OK\r\nx-torana-attempts: 2\r\n\r\n',
    /\+ x-torana-attempts: 2/,
  ],
  [
    'a header that does not come',
    'HTTP/1.1 200 OK\nx-torana-job: 1',
    'HTTP/1.1 200 OK\r\n\r\n',
    /- x-torana-job: 1/,
  ],
  ['an error instead of an answer', '{"object": "list"}', '{"error":{"code":"invalid_key"}}', /invalid_key/],
]
for (const [name, shown, printed, found] of WRONG)
  test(`is found: ${name}`, () => assert.match(difference(shown, printed, place) ?? '', found))

test('commands of a page go to the ports of the run', () => {
  assert.equal(
    atPorts('curl http://127.0.0.1:8080/v1 http://localhost:8081/livez :18080', place),
    'curl http://127.0.0.1:31007/v1 http://localhost:31008/livez :18080',
  )
})
