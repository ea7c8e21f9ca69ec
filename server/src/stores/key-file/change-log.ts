/**
 * Changes since a file of packed keys, appended as they come. Each record is signed together with the signature before it, and
 * the first with that of the packed file: a log belongs to one file, and no record can be taken out or put in another order.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { constants, open, readFile } from 'node:fs/promises'
import type { DirectoryChanges, DirectoryState, HeldProject } from '#ports/key-file.ts'
import type { KeyRecord } from '#ports/key-store.ts'
import { changesJson, keyFromJson, projectFromJson, type ChangesJson } from './key-json.ts'
import { MAC_BYTES } from './layout.ts'

const MAGIC = Buffer.from('toranaK1')
const LENGTH_BYTES = 4

interface RecordJson extends ChangesJson {
  readonly version: string
  readonly mark: string
  readonly verifiedAtMs: number
}

/** A log as far as it was read, and where it goes on. */
export interface ChangeLog {
  /** Undefined: it has no record yet. */
  readonly state: DirectoryState | undefined
  readonly keys: ReadonlyMap<string, KeyRecord>
  readonly projects: ReadonlyMap<string, HeldProject>
  readonly endBytes: number
  readonly mac: Buffer
}

/** The log of the file with this signature. A record that a crash cut off at the end does not count. */
export async function readLog(
  path: string,
  keys: readonly Uint8Array[],
  fileMac: Buffer,
): Promise<ChangeLog> {
  const none: ChangeLog = {
    state: undefined,
    keys: new Map(),
    projects: new Map(),
    endBytes: 0,
    mac: fileMac,
  }
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  })
  const head = headOf(fileMac)
  // A log of another file: its changes are in the one that was packed since.
  if (!bytes.subarray(0, head.length).equals(head)) return none
  const log = { ...none, keys: new Map<string, KeyRecord>(), projects: new Map<string, HeldProject>() }
  let [state, mac, at] = [none.state, none.mac, head.length]
  while (at < bytes.length) {
    const cut = { ...log, state, mac, endBytes: at }
    if (bytes.length - at < LENGTH_BYTES) return cut
    const textEnd = at + LENGTH_BYTES + bytes.readUInt32LE(at)
    const end = textEnd + MAC_BYTES
    if (end > bytes.length) return cut
    const text = bytes.subarray(at + LENGTH_BYTES, textEnd)
    const claimed = bytes.subarray(textEnd, end)
    const before = mac
    if (!keys.some((key) => timingSafeEqual(macOf(key, before, text), claimed))) {
      // The last one was not on the disk completely when the power went.
      if (end === bytes.length) return cut
      throw new Error(`${path} was changed after it was written: it is not used`)
    }
    const record = JSON.parse(text.toString()) as RecordJson
    for (const key of record.keys.map(keyFromJson)) log.keys.set(key.id, key)
    for (const project of record.projects.map(projectFromJson)) log.projects.set(project.name, project)
    const { version, mark, verifiedAtMs } = record
    state = { version: BigInt(version), mark, verifiedAtMs }
    mac = Buffer.from(claimed)
    at = end
  }
  return { ...log, state, mac, endBytes: at }
}

/** Writes one record behind those that were read, in place of what a crash left there. */
export async function appendTo(
  path: string,
  key: Uint8Array,
  log: Pick<ChangeLog, 'endBytes' | 'mac'>,
  state: DirectoryState,
  changes: DirectoryChanges,
): Promise<void> {
  const { version, mark, verifiedAtMs } = state
  const json: RecordJson = { version: String(version), mark, verifiedAtMs, ...changesJson(changes) }
  const text = Buffer.from(JSON.stringify(json))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(text.length)
  const head = log.endBytes === 0 ? [headOf(log.mac)] : []
  const bytes = Buffer.concat([...head, length, text, macOf(key, log.mac, text)])
  const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants
  const file = await open(path, O_WRONLY | O_NOFOLLOW | (log.endBytes === 0 ? O_CREAT | O_TRUNC : 0), 0o600)
  try {
    await file.truncate(log.endBytes)
    await file.write(bytes, 0, bytes.length, log.endBytes)
    await file.datasync()
  } finally {
    await file.close()
  }
}

function headOf(fileMac: Buffer): Buffer {
  return Buffer.concat([MAGIC, fileMac])
}

function macOf(key: Uint8Array, before: Buffer, text: Buffer): Buffer {
  return createHmac('sha256', key).update(before).update(text).digest()
}
