/** Holds an edit that came as a form, where its project captures inputs. */
import { MAX_CAPTURED_BYTES } from '#ports/captures.ts'
import type { Key } from '#ports/keys.ts'
import { holdInput } from '../caller/held-input.ts'
import type { Journey } from '../caller/journey.ts'
import type { EditParts, TakenFile } from '../uploads/take-file.ts'

/** As the JSON that means the same. */
export async function holdForm(journey: Journey, key: Key, { body, taken }: EditParts): Promise<void> {
  if (journey.capture === undefined) return
  if (taken.reduce((sum, { upload }) => sum + upload.size, 0) > MAX_CAPTURED_BYTES) return
  const files = await Promise.all(
    taken.map(async (file) => ({ field: file.field, image: { image_url: await dataUrl(file) } })),
  )
  const of = (field: TakenFile['field']) =>
    files.filter((file) => file.field === field).map(({ image }) => image)
  const json = { ...(body as object), images: of('image'), mask: of('mask')[0], markup: of('markup')[0] }
  holdInput(journey, key, Buffer.from(JSON.stringify(json)))
}

async function dataUrl({ upload, header }: TakenFile): Promise<string> {
  const chunks = await Array.fromAsync(upload.open())
  return `data:image/${header.format};base64,${Buffer.concat(chunks).toString('base64')}`
}
