/** A file of rows while it is uploaded, which becomes a draft of a batch. At the end the draft exists or leaves nothing behind. */
import type { CorpusProfile } from '#core/corpus/profile.ts'
import { fileBlobName } from '#core/files/blob-names.ts'
import type { BatchDraft, BatchDrafts } from '#ports/batch-drafts.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { CorpusReader } from '#ports/corpus.ts'
import type { Key } from '#ports/keys.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { ArrivingBytes, beginBytes, type ArrivingOutside, type BegunBytes } from '../files/arriving-file.ts'

export interface DraftOutside extends ArrivingOutside {
  readonly drafts: BatchDrafts
  readonly corpora: CorpusReader
}

export interface DraftWish {
  readonly name: string
  readonly hasHeader: boolean
  /** The person or program that sends it. */
  readonly actor: string
}

export interface ReadDraft {
  readonly draft: BatchDraft
  readonly profile: CorpusProfile
}

export class ArrivingDraft extends ArrivingBytes<CorpusProfile> {
  readonly #drafts: BatchDrafts
  readonly #project: string
  readonly #wish: DraftWish

  private constructor(begun: BegunBytes, wish: DraftWish, outside: DraftOutside) {
    super(begun, outside, () => outside.corpora.profile(wish))
    this.#drafts = outside.drafts
    this.#project = begun.project
    this.#wish = wish
  }

  /** `announcedBytes`: lower bound of the file's size. */
  static async begin(
    owner: Pick<Key, 'id' | 'project'>,
    announcedBytes: number,
    wish: DraftWish,
    outside: DraftOutside,
  ): Promise<ArrivingDraft> {
    return new ArrivingDraft(await beginBytes(owner, announcedBytes, outside), wish, outside)
  }

  complete(): Promise<ReadDraft> {
    const { actor, name } = this.#wish
    return this.completed(
      (profile) => ({ name: profileBlobName(this.id), text: JSON.stringify(profile) }),
      async ({ read: profile, bytes, segments }) => {
        const kept = { id: this.id, project: this.#project, actor, name, bytes, segments }
        const draft = await this.#drafts.keep(kept)
        return draft && { draft, profile }
      },
    )
  }
}

function profileBlobName(id: string): string {
  return fileBlobName(id, 'profile')
}

/** Rejects with `StoreUnreachable` when it is missing. */
export async function profileOf(id: string, blobs: Pick<BlobStore, 'open'>): Promise<CorpusProfile> {
  const blob = await blobs.open(profileBlobName(id))
  if (blob === undefined) throw new StoreUnreachable(`${profileBlobName(id)} is missing`)
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of blob.bytes) text += decoder.decode(bytes, { stream: true })
  return JSON.parse(text + decoder.decode()) as CorpusProfile
}
