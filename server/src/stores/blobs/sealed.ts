/**
 * A blob store that seals delivery records: they contain prompts that an upstream rewrote, and are kept as long as the images. Older
 * records that are not sealed are read as they are. Images and files rely on the encryption of the disk.
 */
import { text } from 'node:stream/consumers'
import { isDeliveryName } from '#core/image/blob-names.ts'
import { isRecord } from '#core/text/record.ts'
import type { BlobStore, ListedBlob, OpenBlob } from '#ports/blobs.ts'
import { CredentialLost, type SealingKeys } from '#ports/credentials.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { openSecret, sealSecret } from '../envelope.ts'
import { checkRange, type ByteRange } from './names.ts'

/** A sealed record as JSON; both values are base64. No delivery has fields with these names. */
interface SealedRecord {
  readonly sealedKey: string
  readonly sealedSecret: string
}

export class SealedBlobs implements BlobStore {
  readonly #store: BlobStore
  readonly #keys: SealingKeys

  constructor(store: BlobStore, keys: SealingKeys) {
    this.#store = store
    this.#keys = keys
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    if (!isDeliveryName(name)) return this.#store.put(name, bytes)
    const { sealedKey, sealedSecret } = sealSecret(new TextDecoder().decode(bytes), ownerOf(name), this.#keys)
    const record: SealedRecord = {
      sealedKey: Buffer.from(sealedKey).toString('base64'),
      sealedSecret: Buffer.from(sealedSecret).toString('base64'),
    }
    return this.#store.put(name, Buffer.from(JSON.stringify(record)))
  }

  async open(name: string, range?: ByteRange): Promise<OpenBlob | undefined> {
    if (!isDeliveryName(name)) return this.#store.open(name, range)
    const blob = await this.#store.open(name)
    if (blob === undefined) return undefined
    const bytes = this.#opened(name, await text(blob.bytes))
    if (range) checkRange(range, bytes.length)
    return {
      size: bytes.length,
      bytes: partsOf(range ? bytes.subarray(range.first, range.last + 1) : bytes),
    }
  }

  delete(name: string): Promise<void> {
    return this.#store.delete(name)
  }

  /** Sizes are those of the sealed records. */
  list(options: Parameters<BlobStore['list']>[0]): Promise<readonly ListedBlob[]> {
    return this.#store.list(options)
  }

  #opened(name: string, kept: string): Buffer {
    const record = JSON.parse(kept) as unknown
    if (!isRecord(record) || typeof record['sealedSecret'] !== 'string') return Buffer.from(kept)
    const { sealedKey, sealedSecret } = record as unknown as SealedRecord
    const envelope = {
      sealedKey: Buffer.from(sealedKey, 'base64'),
      sealedSecret: Buffer.from(sealedSecret, 'base64'),
    }
    try {
      return Buffer.from(openSecret(envelope, ownerOf(name), this.#keys).secret)
    } catch (cause) {
      // Not as if it were missing: then its images would be bought again.
      if (cause instanceof CredentialLost)
        throw new StoreUnreachable(`${name} was sealed with another TORANA_SECRET, or was changed`, { cause })
      throw cause
    }
  }
}

function ownerOf(name: string): string {
  return `delivery record ${name}`
}

async function* partsOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield bytes
}
