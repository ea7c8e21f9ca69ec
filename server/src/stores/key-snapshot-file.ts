/** The key snapshot as a file: a line of JSON about the snapshot, one for each key, and a last line with the signature. */
import { createHmac, timingSafeEqual, type Hmac } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { KeyRecord, KeySnapshotContent, SnapshotFile, Terms } from '#ports/key-store.ts'
import { replaceFile } from './replace-file.ts'
import { budgetFrom, budgetJson, type BudgetJson } from './key-change.ts'

const FORMAT = 'torana key snapshot 1'

/** Keys of one write: a few milliseconds of work before others get the event loop. */
const PAGE_KEYS = 1000

interface Header {
  readonly format: string
  readonly verifiedAtMs: number
}

type TermsJson = Pick<Terms, 'limits'> & { readonly budget: BudgetJson | null }
type KeyJson = Omit<KeyRecord, 'budget' | 'projectTerms' | 'version'> &
  TermsJson & { readonly projectTerms: TermsJson; readonly version: string }

/** `keys`: the first one signs, all are accepted. */
export function keySnapshotFile(path: string, keys: readonly Uint8Array[]): SnapshotFile {
  return {
    async read() {
      let bytes: Buffer
      try {
        bytes = await readFile(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
      const end = bytes.lastIndexOf('\n', -2) + 1
      const signed = bytes.subarray(0, end)
      const claimed = bytes.subarray(end)
      const isOurs = keys.some((key) => {
        const expected = lastLine(createHmac('sha256', key).update(signed))
        return claimed.length === expected.length && timingSafeEqual(claimed, expected)
      })
      if (!isOurs)
        throw new Error(`${path} was changed, or written by a node with another secret: it is not used`)
      const [first = '', ...lines] = signed.toString().trimEnd().split('\n')
      const header = JSON.parse(first) as Header
      if (header.format !== FORMAT) throw new Error(`${path} has the format '${header.format}'`)
      return { verifiedAtMs: header.verifiedAtMs, keys: lines.map(keyFrom) }
    },

    async write({ verifiedAtMs, keys: records }: KeySnapshotContent) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await replaceFile(path, async (file) => {
        const hmac = createHmac('sha256', keys[0] as Uint8Array)
        const put = async (text: string): Promise<void> => {
          hmac.update(text)
          await file.writeFile(text)
        }
        await put(`${JSON.stringify({ format: FORMAT, verifiedAtMs } satisfies Header)}\n`)
        for (const page of pagesOf(records)) await put(page.map(keyText).join(''))
        await file.writeFile(lastLine(hmac))
      })
    },
  }
}

function lastLine(hmac: Hmac): Buffer {
  return Buffer.from(`${hmac.digest('base64')}\n`)
}

function* pagesOf(records: Iterable<KeyRecord>): Iterable<KeyRecord[]> {
  let page: KeyRecord[] = []
  for (const record of records) {
    page.push(record)
    if (page.length < PAGE_KEYS) continue
    yield page
    page = []
  }
  yield page
}

function keyText(key: KeyRecord): string {
  const { budget, projectTerms, version } = key
  const json = {
    ...key,
    budget: budgetJson(budget),
    projectTerms: { ...projectTerms, budget: budgetJson(projectTerms.budget) },
    version: String(version),
  }
  return `${JSON.stringify(json satisfies KeyJson)}\n`
}

function keyFrom(line: string): KeyRecord {
  const json = JSON.parse(line) as KeyJson
  const { budget, projectTerms, version } = json
  return {
    ...json,
    budget: budgetFrom(budget),
    projectTerms: { ...projectTerms, budget: budgetFrom(projectTerms.budget) },
    version: BigInt(version),
  }
}
