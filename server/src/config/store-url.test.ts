import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeUrlNow } from './store-url.ts'

const STARTED = 'postgres://torana:one@db.example.com:5432/torana?sslmode=require'

function followed(env: Record<string, string> = { DATABASE_URL_FILE: '/run/url' }) {
  const file = { text: `${STARTED}\n` as string | undefined }
  const problems: string[] = []
  const now = storeUrlNow('DATABASE_URL', {
    url: STARTED,
    env,
    onProblem: (problem) => problems.push(problem),
    readFile: () => {
      if (file.text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
      return file.text
    },
  })
  return { file, problems, now }
}

test('a new connection uses the user and the password that the file has then', () => {
  const { file, problems, now } = followed()
  assert.equal(now(), STARTED)
  file.text = STARTED.replace('torana:one', 'v-torana-2:two%2F')
  assert.equal(now(), file.text)
  assert.deepEqual(problems, [])
})

const BAD: readonly (readonly [title: string, text: string | undefined, problem: RegExp])[] = [
  ['is missing', undefined, /DATABASE_URL_FILE names \/run\/url, which cannot be read \(ENOENT\)/],
  ['is empty', '\n', /DATABASE_URL_FILE names \/run\/url, which is empty/],
  ['holds no URL', 'hunter2', /DATABASE_URL_FILE holds no URL/],
  ['names another host', STARTED.replace('db.', 'evil.'), /another server.*restart/],
  ['names another port', STARTED.replace('5432', '5433'), /another server.*restart/],
  ['names another database', STARTED.replace('/torana?', '/other?'), /another server.*restart/],
  ['has other options', STARTED.replace('require', 'disable'), /another server.*restart/],
]
for (const [title, text, problem] of BAD)
  test(`a file that ${title} is reported once, and the last good URL stays`, () => {
    const { file, problems, now } = followed()
    const second = STARTED.replace(':one@', ':two@')
    file.text = second
    now()
    file.text = text
    assert.deepEqual([now(), now()], [second, second])
    assert.equal(problems.length, 1)
    assert.match(problems[0] ?? '', problem)
    assert.doesNotMatch(problems[0] ?? '', /hunter2|one|two/)
    file.text = STARTED
    assert.equal(now(), STARTED)
  })

test('a URL from a variable is never looked up again', () => {
  const { file, now } = followed({ DATABASE_URL: STARTED })
  file.text = undefined
  assert.equal(now(), STARTED)
})
