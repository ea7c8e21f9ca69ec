import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { unknownVariables } from './unknown-variables.ts'

const folder = mkdtempSync(join(tmpdir(), 'torana-variables-'))
after(() => rmSync(folder, { recursive: true }))

test('a misspelt variable is named, with the one that was meant', () => {
  const env = { TORANA_CONFG: 'x', TORANA_BOOTSTRP_KEY_FILE: 'x', TORANA_WEATHER: 'x' }
  assert.deepEqual(unknownVariables(env, undefined), [
    'TORANA_CONFG: Torana has no such variable and ignores it. Did you mean TORANA_CONFIG?',
    'TORANA_BOOTSTRP_KEY_FILE: Torana has no such variable and ignores it. Did you mean TORANA_BOOTSTRAP_KEY_FILE?',
    'TORANA_WEATHER: Torana has no such variable and ignores it.',
  ])
})

test('its own variables, those of clients, those of others and those that the file uses are no reason to warn', () => {
  const file = join(folder, 'torana.yaml')
  writeFileSync(
    file,
    'projects: { a: { keys: [{ name: k, secret: "${TORANA_KEY_OF_A}" }] } } # ${TORANA_KEY_OF_B}',
  )
  const env = {
    TORANA_CONFIG: file,
    TORANA_SECRET_FILE: 'x',
    TORANA_KEY: 'x',
    PATH: 'x',
    TORANA_KEY_OF_A: 'x',
    TORANA_KEY_OF_B_FILE: 'x',
  }
  assert.deepEqual(unknownVariables(env, file), [])
})
