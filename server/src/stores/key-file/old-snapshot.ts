/** The key snapshot of earlier versions, read once after an upgrade: lines of JSON, and a last line with the signature. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { HeldProject } from '#ports/key-file.ts'
import type { KeyRecord } from '#ports/key-store.ts'
import { keyFromJson, type KeyJson } from './key-json.ts'

const FORMAT = 'torana key snapshot 1'

interface Header {
  readonly format: string
  readonly verifiedAtMs: number
}

export interface OldSnapshot {
  readonly verifiedAtMs: number
  readonly keys: readonly KeyRecord[]
  readonly projects: readonly HeldProject[]
}

/** Undefined when there is none. */
export async function readOldSnapshot(
  path: string,
  keys: readonly Uint8Array[],
): Promise<OldSnapshot | undefined> {
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
    const expected = Buffer.from(`${createHmac('sha256', key).update(signed).digest('base64')}\n`)
    return claimed.length === expected.length && timingSafeEqual(claimed, expected)
  })
  if (!isOurs)
    throw new Error(`${path} was changed, or written by a node with another secret: it is not used`)
  const [first = '', ...lines] = signed.toString().trimEnd().split('\n')
  const header = JSON.parse(first) as Header
  if (header.format !== FORMAT) throw new Error(`${path} has the format '${header.format}'`)
  const records = lines.map((line) => keyFromJson(JSON.parse(line) as KeyJson))
  return { verifiedAtMs: header.verifiedAtMs, keys: records, projects: projectsOf(records) }
}

/** Each key carries the terms of its project. */
function projectsOf(keys: readonly KeyRecord[]): readonly HeldProject[] {
  const projects = new Map<string, HeldProject>()
  for (const { project: name, projectTerms, version } of keys) {
    const known = projects.get(name)
    if (known === undefined || known.version < version)
      projects.set(name, { name, ...projectTerms, capturesInputs: false, version })
  }
  return [...projects.values()]
}
