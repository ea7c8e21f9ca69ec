/**
 * The delivery of a call, and the result of a job's calls. Both are kept as text and outlive the process that bought them.
 */
import type { PictureForm, PixelSize } from '../catalog/catalog.ts'
import type { LedgerEntry } from '../money/ledger.ts'
import { addCosts, costText, type Cost } from '../money/price.ts'
import { addTokens, type ImageUsage } from '../money/usage.ts'
import { provenanceKept, type Provenance, type ProvenanceKept } from './provenance.ts'

/** An image as it is kept, under the digest of its bytes. */
export interface KeptBytes {
  readonly sha256: string
  readonly bytes: number
  /** `png`, `jpeg`, `webp`, `gif`, `svg`; `unknown` where its header says none of them. */
  readonly format: string
  /** Whether it carries a C2PA manifest. Absent: it was not checked. */
  readonly provenance?: Provenance | undefined
}

export interface KeptPicture extends KeptBytes {
  readonly width: number
  readonly height: number
  readonly revisedPrompt?: string | undefined
  /** Torana's conversion, where the caller asked for another format. */
  readonly converted?: KeptBytes | undefined
}

/** Everything needed to answer for one call and to account for it. */
export interface Delivery {
  readonly project: string
  /** The entry that posts it. */
  readonly post: LedgerEntry
  readonly pictures: readonly KeptPicture[]
  readonly tokens: ImageUsage['tokens']
  /** `usage` as the upstream wrote it. Absent when it wrote none, or not one that counts. */
  readonly reported?: Readonly<Record<string, unknown>> | undefined
  readonly echoes: Readonly<Record<string, unknown>>
  readonly extraFields: Readonly<Record<string, unknown>>
  readonly emulated: readonly string[]
}

/** Amounts are larger than a number can hold exactly. */
export function deliveryText(delivery: Delivery): string {
  return JSON.stringify(delivery, (_, value: unknown) =>
    typeof value === 'bigint' ? { nano: String(value) } : value,
  )
}

/** Only the amounts of the entry are ours. An upstream's fields stay unchanged, whatever they look like. */
export function deliveryOf(text: string): Delivery {
  const delivery = JSON.parse(text) as Delivery
  const { post } = delivery
  return {
    ...delivery,
    post: {
      ...post,
      amountNanoUsd: amountIn(post.amountNanoUsd),
      projectLeaseNanoUsd: amountIn(post.projectLeaseNanoUsd) ?? 0n,
      keyLeaseNanoUsd: amountIn(post.keyLeaseNanoUsd) ?? 0n,
    },
  }
}

function amountIn(kept: unknown): bigint | undefined {
  const { nano } = (kept ?? {}) as { readonly nano?: string }
  return nano === undefined ? undefined : BigInt(nano)
}

/** An image's place in a job; its id as an asset. */
export interface ResultPicture extends KeptPicture {
  readonly attempt: number
  readonly index: number
}

/** The answer of a settled job. */
export interface ImageResult {
  readonly createdSeconds: number
  readonly pictures: readonly ResultPicture[]
  /** Number of requested images: fewer come when some of several calls failed. */
  readonly asked: number
  /** The batch with whose results they are kept. Absent: they are kept by themselves. */
  readonly batchId?: string | undefined
  /** Images beyond the requested number. They are kept and paid for like the others. Absent: none. */
  readonly extra?: readonly Pick<ResultPicture, 'attempt' | 'index'>[] | undefined
  /** How they are handed over. */
  readonly form: PictureForm
  readonly tokens: ImageUsage['tokens']
  /** `usage` as the only call's upstream wrote it. */
  readonly reported?: Readonly<Record<string, unknown>> | undefined
  readonly echoes: Readonly<Record<string, unknown>>
  readonly extraFields: Readonly<Record<string, unknown>>
  readonly deployments: readonly string[]
  readonly attempts: number
  /** As in `x-torana-cost`. */
  readonly costUsd: string
  /** Source of the cost. Absent: it follows from the price. */
  readonly costBy?: 'upstream' | 'price, upstream' | undefined
  readonly usage: 'upstream' | 'estimated'
  readonly emulated: readonly string[]
  readonly dropped: readonly string[]
  /** Properties of the images that differ from the request. Absent when they are as requested, or not known. */
  readonly differs?: { readonly output_format?: string; readonly size?: string } | undefined
}

/** What happened to the C2PA manifest of one image on its way to the caller. Undefined: it was not checked. */
export function provenanceOfPicture({ converted, ...own }: KeptPicture): ProvenanceKept | undefined {
  return provenanceKept(own.provenance, (converted ?? own).provenance)
}

/** For all images: one word, or several with commas where they differ. Undefined when one of them was not checked. */
export function provenanceOfPictures(pictures: readonly KeptPicture[]): string | undefined {
  const all = new Set(pictures.map(provenanceOfPicture))
  if (all.size === 0 || all.has(undefined)) return undefined
  return (['dropped', 'kept', 'none'] as const).filter((one) => all.has(one)).join(', ')
}

/** What the caller wants of the images. Undefined: anything. */
interface WantedPictures {
  readonly format: string | undefined
  readonly size: PixelSize | undefined
}

/** Values with commas where images differ among themselves. */
function differenceOf(
  pictures: readonly KeptPicture[],
  { format, size }: WantedPictures,
): ImageResult['differs'] {
  const formats = new Set(pictures.map(({ converted, ...own }) => (converted ?? own).format))
  const sizes = new Set(
    pictures.filter(({ width }) => width > 0).map(({ width, height }) => `${width}x${height}`),
  )
  formats.delete('unknown')
  if (format !== undefined) formats.delete(format)
  if (size !== undefined) sizes.delete(`${size.width}x${size.height}`)
  const differs = {
    ...(format !== undefined && formats.size > 0 ? { output_format: [...formats].join(', ') } : {}),
    ...(size !== undefined && sizes.size > 0 ? { size: [...sizes].join(', ') } : {}),
  }
  return Object.keys(differs).length === 0 ? undefined : differs
}

const ANYTHING: WantedPictures = { format: undefined, size: undefined }

export function resultOf(
  deliveries: readonly Delivery[],
  about: Pick<ImageResult, 'createdSeconds' | 'asked' | 'batchId' | 'form' | 'attempts' | 'dropped'>,
  wanted = ANYTHING,
): ImageResult {
  const inOrder = deliveries.toSorted((a, b) => a.post.attempt - b.post.attempt)
  const [only, ...others] = inOrder
  const isAlone = others.length === 0
  const all = inOrder.flatMap(({ pictures, post }) =>
    pictures.map((picture, index) => ({ ...picture, attempt: post.attempt, index })),
  )
  const pictures = all.slice(0, about.asked)
  const differs = differenceOf(pictures, wanted)
  const costBy = costByOf(inOrder)
  const extra = all.slice(about.asked).map(({ attempt, index }) => ({ attempt, index }))
  return {
    ...about,
    pictures,
    ...(differs === undefined ? {} : { differs }),
    ...(extra.length === 0 ? {} : { extra }),
    tokens: inOrder.map(({ tokens }) => tokens).reduce(addTokens),
    ...(isAlone && only?.reported ? { reported: only.reported } : {}),
    echoes: isAlone ? (only?.echoes ?? {}) : commonFields(inOrder.map(({ echoes }) => echoes)),
    extraFields: isAlone ? (only?.extraFields ?? {}) : {},
    deployments: [...new Set(inOrder.map(({ post }) => post.deployment))],
    costUsd: costText(inOrder.map(costOf).reduce(addCosts)),
    ...(costBy === undefined ? {} : { costBy }),
    usage: inOrder.some(({ post }) => post.usage !== 'upstream') ? 'estimated' : 'upstream',
    emulated: [...new Set(inOrder.flatMap(({ emulated }) => emulated))],
  }
}

function costByOf(deliveries: readonly Delivery[]): ImageResult['costBy'] {
  const reported = deliveries.filter(({ post }) => post.remarks?.costBy === 'upstream').length
  if (reported === 0) return undefined
  return reported === deliveries.length ? 'upstream' : 'price, upstream'
}

function costOf({ post }: Delivery): Cost {
  return post.amountNanoUsd === undefined
    ? { kind: 'unpriced' }
    : { kind: 'known', nanoUsd: post.amountNanoUsd }
}

function commonFields(all: readonly Readonly<Record<string, unknown>>[]): Readonly<Record<string, unknown>> {
  const [first = {}, ...others] = all
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((other) => other[name] === value)),
  )
}

/** Where the image of an asset is found. */
export interface AssetPlace {
  /** The batch with whose results it is kept. Undefined: it is kept by itself. */
  readonly batchId: string | undefined
  readonly jobId: string
  readonly attempt: number
  readonly index: number
  /** As it came from the upstream, before conversion. */
  readonly isOriginal: boolean
}

/** `<job>-<attempt>-<index>`, after the batch if it belongs to one: shows its place and its time. */
export function assetIdOf(
  jobId: string,
  { attempt, index }: Pick<ResultPicture, 'attempt' | 'index'>,
  batchId?: string,
): string {
  const batch = batchId === undefined ? '' : `${batchId.slice(BATCH.length)}-`
  return `${batch}${jobId}-${attempt}-${index}`
}

/** The asset id of the upstream's original of a converted image. */
export function originalIdOf(assetId: string): string {
  return `${assetId}-original`
}

const BATCH = 'batch_'
const ASSET_ID =
  /^(?:([0-9a-f]{32})-)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d{1,4})-(\d{1,3})(-original)?$/

export function placeOfAsset(assetId: string): AssetPlace | undefined {
  const [, batch, jobId, attempt, index, original] = ASSET_ID.exec(assetId) ?? []
  if (jobId === undefined) return undefined
  const batchId = batch === undefined ? undefined : BATCH + batch
  const isOriginal = original !== undefined
  return { batchId, jobId, attempt: Number(attempt), index: Number(index), isOriginal }
}

export function deliveryName(jobId: string, attempt: number): string {
  return `jobs/${jobId}/${attempt}.json`
}

export function pictureName(sha256: string): string {
  return `pictures/${sha256}`
}

/** A thumbnail of the given width in pixels. */
export function thumbnailName(
  { jobId, attempt, index }: Pick<AssetPlace, 'jobId' | 'attempt' | 'index'>,
  width: number,
): string {
  return `jobs/${jobId}/${attempt}-${index}-${width}.webp`
}
