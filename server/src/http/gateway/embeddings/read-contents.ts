/** Reads a body with contents: first its media, then the request, then what it names by address. */
import { hasAddress, type Content, type Media, type Part } from '#core/content/content.ts'
import { readEmbeddingRequest, type EmbeddingRequest } from '#core/embedding/request.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Lifted } from '#core/media/lift.ts'
import { paramAt } from '#core/content/place.ts'
import type { PathModel } from '#core/request/path-model.ts'
import type { ParsedJson } from '#ports/json.ts'
import { fetchAddress, isWebAddress, type FetchingOutside } from '../uploads/fetch-address.ts'
import { uploadFault } from '../uploads/upload-fault.ts'
import { TakenMedia, type TakingMediaOutside } from './take-media.ts'

export interface ReadingContentsOutside extends TakingMediaOutside, FetchingOutside {}

/** Characters beside media for which a request keeps no room in the memory for bodies. */
const MAX_FREE_CHARACTERS = 256 * 1024
const ACCEPT = 'image/*, audio/*, video/*, application/pdf'

export interface ParsedContents extends Omit<ParsedJson, 'media'> {
  readonly media: Omit<Lifted, 'value'>
}

export interface ReadContents {
  readonly asked: EmbeddingRequest
  /** What is left of the body in memory is so little that its room can be given back. */
  readonly isOnDisk: boolean
}

/** `hold` gets the media before any is taken: their holder discards them when the request ends, also when reading fails. */
export async function readContents(
  parsed: ParsedContents,
  {
    project,
    path,
    hold,
  }: { project: string; path: PathModel | undefined; hold: (taken: TakenMedia) => void },
  outside: ReadingContentsOutside,
): Promise<ReadContents> {
  const taken = new TakenMedia(outside)
  hold(taken)
  const { asked, isOnDisk } = await readTaken(parsed, taken, path, outside)
  return { asked: await fetchAddresses(asked, project, taken, outside), isOnDisk }
}

/** The request, without what it names by address. */
export async function readTaken(
  { value, exact, media }: ParsedContents,
  taken: TakenMedia,
  path: PathModel | undefined,
  { limits }: TakingMediaOutside,
): Promise<ReadContents> {
  try {
    await taken.take(media.files)
    const asked = readEmbeddingRequest(value, limits.maxInputs, path, exact, taken.at)
    taken.refuseUnread()
    return { asked, isOnDisk: taken.isOnDisk && media.characters <= MAX_FREE_CHARACTERS }
  } catch (error) {
    throw uploadFault(error)
  }
}

/** Parts with an address become media, where Torana fetches addresses. One after another: each takes memory for the largest file. */
export async function fetchAddresses(
  asked: EmbeddingRequest,
  project: string,
  taken: TakenMedia,
  outside: ReadingContentsOutside,
): Promise<EmbeddingRequest> {
  const { input } = asked
  if (input.kind !== 'contents' || !outside.limits.fetchImageUrls) return asked
  try {
    const contents: Content[] = []
    for (const [index, { parts }] of input.contents.entries()) {
      const known: Part[] = []
      for (const [number, part] of parts.entries())
        known.push(await fetchedPart(part, `input/${index}/content/${number}`, project, taken, outside))
      contents.push({ parts: known })
    }
    return { ...asked, input: { kind: 'contents', contents } }
  } catch (error) {
    throw uploadFault(error)
  }
}

async function fetchedPart(
  part: Part,
  place: string,
  project: string,
  taken: TakenMedia,
  outside: ReadingContentsOutside,
): Promise<Part> {
  // An address of a bucket is one that only an upstream can read.
  if (!hasAddress(part) || !isWebAddress(part.address)) return part
  const fetchedAs = {
    param: paramAt(place),
    project,
    what: 'an image, audio, video or PDF',
    maxBytes: outside.limits.contentPartBytes,
    noRoom: 'too_many_bodies',
    unreachable: 'media_unreachable',
    accept: ACCEPT,
  } as const
  const key = `address ${place}`
  await fetchAddress(part.address, fetchedAs, outside, (bytes) => taken.take([{ place: key, bytes }]))
  const media = taken.at(key) as Media
  // An address does not say what it leads to, and neither does a part that is a file.
  if (part.kind !== 'file' && part.kind !== media.kind)
    throw new Fault(
      'invalid_media',
      `${fetchedAs.param} is declared as ${part.kind}, and its bytes are ${media.format.toUpperCase()}, ${media.kind}. Declare what it is.`,
      { param: fetchedAs.param },
    )
  return { kind: media.kind, media }
}
