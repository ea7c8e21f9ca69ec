import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Digits that git shows. */
const DIGITS = 12

/** The commit of a checkout, from git's own files; empty where there is no checkout. */
export function commitOfCheckout(folder: string): string {
  const git = join(folder, '.git')
  const head = textOf(join(git, 'HEAD'))
  const [, ref] = /^ref: (.+)$/.exec(head) ?? []
  if (ref === undefined) return head.slice(0, DIGITS)
  const loose = textOf(join(git, ref))
  if (loose !== '') return loose.slice(0, DIGITS)
  const packed = textOf(join(git, 'packed-refs')).split('\n')
  return packed.find((line) => line.endsWith(` ${ref}`))?.slice(0, DIGITS) ?? ''
}

/** Empty when it does not exist. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}
