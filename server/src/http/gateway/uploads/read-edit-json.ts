/** An edit as JSON: images are data URLs or addresses. */
import { isRecord } from '#core/text/record.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Given } from '#core/image/given.ts'
import type { JsonWithFiles, LargeJson, LiftedFile } from '#ports/json.ts'
import type { Key } from '#ports/keys.ts'
import type { Journey } from '../caller/journey.ts'
import { gatewayBounds } from '../../gate/bounds.ts'
import { refuseJson } from '../../gate/parse-json.ts'
import { readBody, type ReadingBodyOutside } from '../caller/read-body.ts'
import { fetchAddress, isWebAddress, MAX_ADDRESS_LENGTH, type FetchingOutside } from './fetch-address.ts'
import { givenFile, takeFile, type EditParts, type TakenFile, type TakingOutside } from './take-file.ts'

export interface TakingPicturesOutside extends TakingOutside, FetchingOutside {}

export interface ReadingJsonOutside extends TakingPicturesOutside, ReadingBodyOutside {
  readonly json: LargeJson
}

export async function partsOfJson(
  journey: Journey,
  key: Key,
  outside: ReadingJsonOutside,
): Promise<EditParts> {
  const { limits, json } = outside
  const bodyLimit = gatewayBounds(limits)['POST /images/edits'].json
  const bytes = await readBody(journey, key, bodyLimit, outside)
  // Its images are on disk at the end of this function.
  using _ = journey.room
  const asker = { project: key.project, timeoutMs: limits.imageTimeoutMs }
  return partsOfParsed(await json.parseWithFiles(bytes, asker).catch(refuseJson), key.project, outside)
}

/** A parsed body, with its images beside it. */
export async function partsOfParsed(
  { value, exact, files }: JsonWithFiles,
  project: string,
  outside: TakingPicturesOutside,
): Promise<EditParts> {
  const { limits } = outside
  if (!isRecord(value))
    throw new Fault('invalid_json', 'The body is not a JSON object. Send {"model": …, "images": […]}.')
  const { images, mask, markup, ...body } = value
  if ('image' in body)
    throw invalid('image', 'In JSON, send images as a list called images: [{"image_url": "data:…"}].')
  refuseMisplaced(files)
  const taking = new Taking(files, project, outside)
  try {
    const pictures: Given[] = []
    for (const [index, reference] of listOf(images, limits.maxEditPictures).entries())
      pictures.push(await taking.take('image', reference, `images/${index}`))
    const overlay = async (field: 'mask' | 'markup', reference: unknown): Promise<Given | undefined> =>
      reference === undefined || reference === null ? undefined : taking.take(field, reference, field)
    const given = { pictures, mask: await overlay('mask', mask), markup: await overlay('markup', markup) }
    return { body, exact, given, taken: taking.taken }
  } catch (error) {
    await taking.discard()
    throw error
  }
}

/** Places where images are read. */
const PLACE = /^(?:images\/\d+|mask|markup)\/image_url$/

/** An image was lifted out of the body wherever it was: a mask in the wrong place would be left out silently. */
function refuseMisplaced(files: readonly LiftedFile[]): void {
  const misplaced = files.find(({ place }) => !PLACE.test(place))
  if (misplaced === undefined) return
  const [name = ''] = misplaced.place.split('/')
  throw invalid(
    name.replaceAll('~1', '/').replaceAll('~0', '~'),
    'A data URL is allowed only as {"image_url": "data:…"} in images, mask and markup. Put it there, or remove it.',
  )
}

function listOf(images: unknown, max: number): readonly unknown[] {
  if (images === undefined || images === null) return []
  if (!Array.isArray(images)) throw invalid('images', 'images must be a list of {"image_url": …}.')
  if (images.length > max)
    throw invalid('images', `images has ${images.length} entries; at most ${max} are allowed.`)
  return images
}

/** Takes the images of one request, one after another. */
class Taking {
  readonly taken: TakenFile[] = []
  readonly #lifted: ReadonlyMap<string, LiftedFile>
  readonly #project: string
  readonly #outside: TakingPicturesOutside

  constructor(lifted: readonly LiftedFile[], project: string, outside: TakingPicturesOutside) {
    this.#lifted = new Map(lifted.map((file) => [file.place, file]))
    this.#project = project
    this.#outside = outside
  }

  async take(field: TakenFile['field'], reference: unknown, place: string): Promise<Given> {
    const param = place.replace(/\/(\d+)$/, '[$1]')
    if (isRecord(reference) && 'file_id' in reference)
      throw new Fault(
        'unsupported_parameter',
        'file_id names a file stored at one upstream, but a model may run on several upstreams. Send the image itself, as a data URL.',
        { param },
      )
    if (!isRecord(reference) || Object.keys(reference).join() !== 'image_url')
      throw invalid(
        param,
        `Each image in ${field === 'image' ? 'images' : field} must be an object {"image_url": …} without other fields.`,
      )
    const lifted = this.#lifted.get(`${place}/image_url`)
    if (lifted === undefined) return this.#address(field, param, reference['image_url'])
    if (lifted.bytes === undefined)
      throw new Fault('invalid_image_file', `${param} has a data URL whose content is not base64.`, {
        param,
      })
    return this.#file(field, lifted.bytes)
  }

  async discard(): Promise<void> {
    await Promise.all(this.taken.map(({ upload }) => upload.discard()))
  }

  async #file(field: TakenFile['field'], bytes: Uint8Array): Promise<Given> {
    const file = await takeFile(one(bytes), field, this.#outside)
    this.taken.push(file)
    return givenFile(file)
  }

  async #address(field: TakenFile['field'], param: string, value: unknown): Promise<Given> {
    if (!isWebAddress(value))
      throw invalid(
        param,
        `image_url must be a data URL (data:image/png;base64,…), or an https address of at most ${MAX_ADDRESS_LENGTH} characters.`,
      )
    const { limits } = this.#outside
    if (!limits.fetchImageUrls) return { kind: 'address', url: value }
    const fetched = {
      param,
      project: this.#project,
      what: 'an image',
      maxBytes: limits.editFileBytes,
      noRoom: 'too_many_image_jobs',
      unreachable: 'invalid_parameter',
      accept: 'image/*',
    } as const
    return fetchAddress(value, fetched, this.#outside, (bytes) => this.#file(field, bytes))
  }
}

async function* one(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}

function invalid(param: string, message: string): Fault {
  return new Fault('invalid_parameter', message, { param })
}
