import { randomBytes } from 'node:crypto'
import { keyFrom } from '#core/key.ts'
import type { Output } from './output.ts'

/** `torana key`: a new key, for `projects.<name>.keys` or TORANA_BOOTSTRAP_KEY. */
export async function run(_argv: string[], out: Output): Promise<number> {
  out.stdout.write(`${keyFrom(randomBytes(64))}\n`)
  return 0
}
