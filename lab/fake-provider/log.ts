import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ContentNote } from './contents.ts'
import type { PartNote } from './images/given.ts'
import type { PictureNote } from './images/pictures.ts'

/** What an entry says beside, when the call was about pictures. */
export type ImageRecord = {
  /** A submit and its polls are entries of their own; `served` stands at the submit, which is the purchase. */
  operation?: 'generate' | 'edit' | 'submit' | 'poll' | 'cancel' | 'download'
  model?: string
  promptSha256?: string
  tokens?: number
  n?: number
  /** As it was asked for; null when the caller left it open. */
  size?: string | null
  /** The files that came with it, in their order. */
  parts?: PartNote[]
  /** Whether the answer was painted over the first of them; if not, it is a drawing like that of any prompt. */
  painted?: boolean
  /** How an edit came. */
  sentAs?: 'multipart' | 'json'
  /** Of an edit as a form: the name of every part, texts included, in their order. */
  partNames?: string[]
  /** Of an edit: what it said beside prompt and pictures, known or not. */
  fields?: Record<string, unknown>
  /** The pictures that were charged, delivered or not. */
  pictures?: PictureNote[]
  /** What a submit was answered, and what a poll asks about. */
  jobId?: string
}

/** One exchange as the provider saw it. */
export type LogEntry = {
  at: string
  id: number
  /** The request's `x-torana-call-id`. */
  callId: string | null
  scenario: string
  wire: string | null
  method: string
  path: string
  model: string | null
  inputs: number
  inputType: string | null
  dimensions: number | null
  encoding: string | null
  tokens: number
  /** Of each input that came as parts: its parts in their order, never their bytes. */
  contents?: ContentNote[][]
  requestBytes: number
  /** Of the body bytes really handed to the connection; null when none were. */
  responseSha256: string | null
  /** Null when the connection ended without an answer. */
  status: number | null
  /** True when the provider did the work and would bill it, whether or not the bytes arrived. */
  served: boolean
  /** The last four characters of the credential. */
  authorization: string | null
  /** In scenarios with capacity-N: how long it waited before its work began. */
  waitedMs?: number
  /** The kind of drift, when the vectors were not the right ones. */
  vectors?: string
} & Omit<ImageRecord, 'model' | 'tokens'>

/**
 * A file of JSON lines, written synchronously: once `append` returns, neither a killed client nor a killed server
 * loses the entry. The file is the only copy, so that a long load test costs no memory.
 */
export class OracleLog {
  readonly #file: string
  readonly #descriptor: number
  readonly #temporary: boolean
  #lastId: number

  constructor(file?: string) {
    this.#temporary = file === undefined
    this.#file = file ?? join(mkdtempSync(join(tmpdir(), 'fake-provider-')), 'served.jsonl')
    this.#descriptor = openSync(this.#file, 'a')
    this.#lastId = this.entries().at(-1)?.id ?? 0
  }

  append(entry: Omit<LogEntry, 'id' | 'at'>): LogEntry {
    const full: LogEntry = { at: new Date().toISOString(), id: ++this.#lastId, ...entry }
    writeSync(this.#descriptor, `${JSON.stringify(full)}\n`)
    return full
  }

  entries(since = 0): LogEntry[] {
    const lines = readFileSync(this.#file, 'utf8').split('\n')
    const entries = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LogEntry)
    return entries.filter((entry) => entry.id > since)
  }

  /** Ids go on counting, so that `since` keeps its meaning. */
  clear(): void {
    ftruncateSync(this.#descriptor)
  }

  close(): void {
    closeSync(this.#descriptor)
    if (this.#temporary) rmSync(dirname(this.#file), { recursive: true })
  }
}
