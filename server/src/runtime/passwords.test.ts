import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PasswordsBusy } from '#ports/passwords.ts'
import { argon2Passwords } from './passwords.ts'

const passwords = argon2Passwords()

test('a password is right for its own hash alone, and the same one is never hashed alike', async () => {
  const [one, two] = await Promise.all([passwords.hash('correct horse'), passwords.hash('correct horse')])
  assert.notEqual(one, two)
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/)
  assert.ok(await passwords.isRight('correct horse', one))
  assert.ok(await passwords.isRight('correct horse', two))
  assert.ok(!(await passwords.isRight('Correct horse', one)))
  assert.ok(!(await passwords.isRight('', one)))
})

test('letters that look alike are alike, however a keyboard composes them', async () => {
  const hash = await passwords.hash('caf\u00e9 society')
  assert.ok(await passwords.isRight('cafe\u0301 society', hash))
})

test('a member who does not exist takes as long as one who does', async () => {
  const hash = await passwords.hash('correct horse')
  const timeOf = async (kept: string | undefined): Promise<number> => {
    const times = []
    for (let run = 0; run < 5; run += 1) {
      const startMs = performance.now()
      assert.ok(!(await passwords.isRight('wrong horse', kept)))
      times.push(performance.now() - startMs)
    }
    return Math.min(...times)
  }
  const [known, unknown] = [await timeOf(hash), await timeOf(undefined)]
  // The work is the same; a machine that is busy with other things makes both longer.
  assert.ok(unknown > known / 3, `${unknown} ms against ${known} ms`)
})

test('what can not be hashed soon is refused, and those in line are served', async () => {
  const asked = Array.from({ length: 40 }, () => passwords.isRight('x', undefined))
  const outcomes = await Promise.allSettled(asked)
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 6)
  assert.ok(refused.every((one) => one.status === 'rejected' && one.reason instanceof PasswordsBusy))
  assert.equal(await passwords.isRight('x', undefined), false)
})

test('what is kept by other parameters is still read', async () => {
  // As the reference program writes it: argon2 somesalt -id -t 2 -m 16 -p 4, shortened to one lane and 8 MiB.
  await assert.rejects(passwords.isRight('x', 'plain text'), /not argon2id/)
})
