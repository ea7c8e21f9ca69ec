/** The exported days of the bucket, brought here and added up by DuckDB. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import type { S3Settings } from '../../../server/src/stores/blobs/s3.ts'
import type { SumsRow } from './judge.ts'

/** Installed once, beside the other tools of the lab. */
const CACHE = join(import.meta.dirname, '../../bench/.cache/ledger-age')

function preparedPython(): string {
  const python = join(CACHE, 'python/bin/python')
  if (!existsSync(join(CACHE, 'ready'))) {
    mkdirSync(CACHE, { recursive: true })
    execFileSync('python3', ['-m', 'venv', join(CACHE, 'python')], { stdio: ['ignore', 2, 2] })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r']
    execFileSync(python, [...pip, join(import.meta.dirname, 'requirements.txt')], {
      stdio: ['ignore', 2, 2],
    })
    writeFileSync(join(CACHE, 'ready'), '')
  }
  return python
}

export interface ColdObject {
  readonly key: string
  readonly bytes: number
}

export class Bucket {
  readonly #client: S3Client
  readonly #place: S3Settings
  readonly #folder: string

  constructor(place: S3Settings, folder: string) {
    const { endpoint, region, credentials } = place
    this.#client = new S3Client({
      ...(endpoint !== undefined && { endpoint }),
      region,
      forcePathStyle: true,
      ...(credentials !== undefined && { credentials }),
    })
    this.#place = place
    this.#folder = join(folder, 'cold')
  }

  /** All that was exported. */
  async list(): Promise<readonly ColdObject[]> {
    const { bucket: Bucket, prefix } = this.#place
    const found: ColdObject[] = []
    for (let token: string | undefined; ;) {
      const page = await this.#client.send(
        new ListObjectsV2Command({ Bucket, Prefix: `${prefix}/ledger/`, ContinuationToken: token }),
      )
      for (const { Key = '', Size = 0 } of page.Contents ?? []) found.push({ key: Key, bytes: Size })
      token = page.NextContinuationToken
      if (token === undefined) return found
    }
  }

  async read(key: string): Promise<Uint8Array> {
    const answer = await this.#client.send(new GetObjectCommand({ Bucket: this.#place.bucket, Key: key }))
    return (await answer.Body?.transformToByteArray()) ?? new Uint8Array()
  }

  /** Sums of the files, and the SHA-256 of each by its name. */
  async sumsOf(
    keys: readonly string[],
  ): Promise<{ readonly rows: readonly SumsRow[]; readonly hashes: ReadonlyMap<string, string> }> {
    rmSync(this.#folder, { recursive: true, force: true })
    mkdirSync(this.#folder, { recursive: true })
    const hashes = new Map<string, string>()
    for (const key of keys) {
      const bytes = await this.read(key)
      hashes.set(basename(key), createHash('sha256').update(bytes).digest('hex'))
      writeFileSync(join(this.#folder, basename(key)), bytes)
    }
    const said = execFileSync(preparedPython(), [join(import.meta.dirname, 'cold.py'), this.#folder], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    })
    rmSync(this.#folder, { recursive: true, force: true })
    const rows = said.split('\n').filter(Boolean)
    return { rows: rows.map((line) => JSON.parse(line) as SumsRow), hashes }
  }

  close(): void {
    this.#client.destroy()
  }
}
