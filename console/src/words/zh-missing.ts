/** `node console/src/words/zh-missing.ts` lists what Chinese does not have yet, in `zh-missing.md`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as en from './en.ts'
import { missingIn } from './fallback.ts'
import * as zh from './zh.ts'

export const MISSING_FILE = join(import.meta.dirname, 'zh-missing.md')

export function missingPage(): string {
  const missing = missingIn(zh, en)
  return [
    '# Entries without Chinese',
    '',
    'The console shows these in English. `node console/src/words/zh-missing.ts` writes this page.',
    '',
    ...(missing.length === 0 ? ['None.'] : missing.map((path) => `- \`${path}\``)),
    '',
  ].join('\n')
}

if (import.meta.main) writeFileSync(MISSING_FILE, missingPage())
