import type { Readable } from 'node:stream'
import type * as S3 from '@aws-sdk/client-s3'
import type { BlobStore, ListedBlob, OpenBlob } from '#ports/blobs.ts'
import { StoreUnreachable } from '#ports/store.ts'
import {
  checkListOptions,
  checkName,
  checkRange,
  isBlobName,
  type ByteRange,
  type ListOptions,
} from './names.ts'
import { reading } from './reading.ts'

export interface S3Settings {
  /** The address of a server other than AWS. Its buckets are part of the path: few servers have a domain for each. */
  readonly endpoint: string | undefined
  readonly region: string
  readonly bucket: string
  /** Folder in the bucket, without a slash at its ends; may be empty. */
  readonly prefix: string
  /** Undefined for those of the machine or the container, as the AWS SDK finds them. */
  readonly credentials: S3Credentials | undefined
}

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

const CONNECT_TIMEOUT_MS = 5000
/** Time until the answer begins, and between two parts of its body. */
const ANSWER_TIMEOUT_MS = 30_000
const MAX_ATTEMPTS = 3
/** Statuses of temporary failures. */
const TRY_AGAIN = new Set([408, 425, 429])
/** The protocol's own limit. */
const MAX_PAGE = 1000

interface OpenClient {
  readonly client: S3.S3Client
  readonly s3: typeof S3
}

/** Any server that speaks S3 and whose reads return what was last written. */
export class S3Blobs implements BlobStore {
  readonly #settings: S3Settings
  #opened: Promise<OpenClient> | undefined

  constructor(settings: S3Settings) {
    this.#settings = settings
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    checkName(name)
    // A copy: a failed attempt may still be sending when this has ended.
    const object = { ...this.#target(name), Body: Uint8Array.from(bytes), ContentLength: bytes.length }
    // The request is signed with a digest of the body, so a server accepts only these bytes.
    await this.#ask(({ client, s3 }) => client.send(new s3.PutObjectCommand(object)))
  }

  async open(name: string, range?: ByteRange): Promise<OpenBlob | undefined> {
    checkName(name)
    if (range) checkRange(range)
    return this.#ask(async ({ client, s3 }) => {
      const Range = range && `bytes=${range.first}-${range.last}`
      try {
        const answer = await client.send(new s3.GetObjectCommand({ ...this.#target(name), Range }))
        return this.#openBlob(answer.Body as Readable, sizeOf(answer), range)
      } catch (error) {
        const { name: code, status } = detailsOf(error)
        if (code === 'NoSuchKey') return undefined
        if (status === 416) throw new RangeError(`${name} has no byte ${range?.first}`, { cause: error })
        throw error
      }
    })
  }

  async delete(name: string): Promise<void> {
    checkName(name)
    await this.#ask(({ client, s3 }) => client.send(new s3.DeleteObjectCommand(this.#target(name))))
  }

  async list(options: ListOptions): Promise<readonly ListedBlob[]> {
    checkListOptions(options)
    const { prefix, after, limit } = options
    const found: ListedBlob[] = []
    let last = after
    while (found.length < limit) {
      const page = await this.#page(prefix, last, Math.min(limit - found.length, MAX_PAGE))
      found.push(...page.blobs)
      if (page.last === undefined) break
      last = page.last
    }
    return found
  }

  close(): void {
    void this.#opened?.then(({ client }) => client.destroy())
  }

  /** `last` is where the next page begins; undefined if there is none. */
  async #page(
    prefix: string,
    after: string | undefined,
    limit: number,
  ): Promise<{ readonly blobs: readonly ListedBlob[]; readonly last: string | undefined }> {
    const { bucket: Bucket } = this.#settings
    const folder = this.#key('')
    const StartAfter = after === undefined ? undefined : this.#key(after)
    const answer = await this.#ask(({ client, s3 }) =>
      client.send(
        new s3.ListObjectsV2Command({ Bucket, Prefix: folder + prefix, StartAfter, MaxKeys: limit }),
      ),
    )
    const listed = (answer.Contents ?? []).map((entry) => ({
      name: entry.Key?.slice(folder.length) ?? '',
      size: entry.Size ?? 0,
      modifiedMs: entry.LastModified?.getTime() ?? 0,
    }))
    // Objects of others in the bucket are ignored.
    const blobs = listed.filter((blob) => isBlobName(blob.name))
    return { blobs, last: answer.IsTruncated ? listed.at(-1)?.name : undefined }
  }

  #openBlob(body: Readable, size: number, range: ByteRange | undefined): OpenBlob {
    try {
      if (range) checkRange(range, size)
    } catch (error) {
      body.destroy()
      throw error
    }
    return { size, bytes: reading(body, (error) => this.#translated(error), ANSWER_TIMEOUT_MS) }
  }

  #target(name: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#settings.bucket, Key: this.#key(name) }
  }

  #key(name: string): string {
    const { prefix } = this.#settings
    return prefix === '' ? name : `${prefix}/${name}`
  }

  async #ask<Answer>(question: (opened: OpenClient) => Promise<Answer>): Promise<Answer> {
    this.#opened ??= open(this.#settings)
    try {
      return await question(await this.#opened)
    } catch (error) {
      throw this.#translated(error)
    }
  }

  #translated(error: unknown): unknown {
    if (error instanceof StoreUnreachable || error instanceof RangeError || error instanceof TypeError)
      return error
    const { name, status } = detailsOf(error)
    const { bucket } = this.#settings
    const message = `S3 bucket ${bucket}: ${name}${status === undefined ? '' : ` (${status})`}: ${(error as Error).message}`
    if (name === 'CredentialsProviderError') return new Error(message)
    // Without the server's message: it repeats the id of the key, and how the request was signed.
    if (status !== undefined && status >= 400 && status < 500 && !TRY_AGAIN.has(status))
      return new Error(message)
    return new StoreUnreachable(message, status === undefined ? { cause: error } : {})
  }
}

/** The package takes a while to load, and a node that stores images on disk never needs it. */
async function open({ endpoint, region, credentials }: S3Settings): Promise<OpenClient> {
  const s3 = await import('@aws-sdk/client-s3')
  const client = new s3.S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials: { ...credentials } }),
    maxAttempts: MAX_ATTEMPTS,
    // Servers other than AWS support few of the checksums that the SDK would add on its own.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: ANSWER_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  })
  return { client, s3 }
}

/** Size of the whole object: the answer to a range has it after the slash. */
function sizeOf(answer: S3.GetObjectCommandOutput): number {
  const total = /\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1]
  const size = total === undefined ? answer.ContentLength : Number(total)
  if (size === undefined) throw new StoreUnreachable('the server did not say how large the blob is')
  return size
}

function detailsOf(error: unknown): { readonly name: string; readonly status: number | undefined } {
  if (!(error instanceof Error)) return { name: String(error), status: undefined }
  return { name: error.name, status: (error as Partial<S3.S3ServiceException>).$metadata?.httpStatusCode }
}
