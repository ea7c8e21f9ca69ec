/** The node's secret and what is derived from it: one key per use, so that no two uses can be played against each other. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { keyFrom } from '#core/key.ts'

/** The configured secret, or 32 random bytes kept in the data folder, readable by its owner alone. */
export function loadSecret(configured: string | undefined, dataDir: string): string {
  return configured ?? keptIn(dataDir, 'secret', () => randomBytes(32).toString('hex'))
}

/** The key of a first start. Kept, so that a restart prints the same. */
export function loadDemoKey(dataDir: string): string {
  return keptIn(dataDir, 'demo.key', () => keyFrom(randomBytes(64)))
}

function keptIn(dataDir: string, name: string, make: () => string): string {
  const file = join(dataDir, name)
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const value = make()
  writeFileSync(file, `${value}\n`, { mode: 0o600, flag: 'wx' })
  chmodSync(file, 0o600)
  return value
}

/** Keyed digests of API keys: what is held in memory or stored can't be turned back into a key. */
export function keyHasher(secret: string): (apiKey: string) => string {
  const pepper = Buffer.from(hkdfSync('sha256', secret, '', 'torana key pepper v1', 32))
  return (apiKey) => createHmac('sha256', pepper).update(apiKey).digest('base64')
}
