/** What one asks for beside the images, and what of it goes to a model that can do less. */
import type { Schema } from '../../api/client.ts'
import type { ImageFields } from '../../api/image-calls.ts'
import type { SearchOf } from '../../app/place.ts'
import type { images } from './place.ts'

export type ImageModel = Schema<'ModelRow'> & { readonly image: NonNullable<Schema<'ModelRow'>['image']> }
export type Mode = 'generate' | 'edit'

/** What the address says. */
export type ImagesSearch = SearchOf<typeof images>

/** Left to the model. */
export const AUTO = 'auto'

export interface Settings {
  readonly prompt: string
  /** `auto`, or as `1024x1024`. */
  readonly size: string
  readonly quality: string
  readonly format: string
  readonly background: string
  readonly howMany: number
  readonly previews: number
  /** The original is put back outside of the mask. */
  readonly keep: boolean
}

export function isImageModel(model: Schema<'ModelRow'>): model is ImageModel {
  return model.image !== null && model.retired === null
}

/** The choice of one model may be none of another's: then the model decides. */
export function fieldsOf(settings: Settings, model: ImageModel, howMany: number): ImageFields {
  const { image, can } = model
  const chosen = (value: string, offered: readonly string[]) =>
    value !== AUTO && offered.includes(value) ? value : undefined
  const previews = Math.min(settings.previews, image.previews)
  return {
    model: model.id,
    prompt: settings.prompt,
    n: howMany,
    size: settings.size === AUTO ? undefined : settings.size,
    quality: chosen(settings.quality, image.qualities),
    background:
      can['transparent'] === undefined ? undefined : chosen(settings.background, ['transparent', 'opaque']),
    output_format: chosen(settings.format, image.formats),
    partial_images: previews > 0 ? previews : undefined,
  }
}

/**
 * One request for each image where previews are wanted: a preview says which preview it is, not of which image. An edit
 * is one request, since each call pays for the input images.
 */
export function requestsFor(settings: Settings, model: ImageModel, mode: Mode): readonly ImageFields[] {
  const withPreviews = fieldsOf(settings, model, 1)
  if (settings.howMany === 1) return [withPreviews]
  if (mode === 'generate' && withPreviews.partial_images !== undefined)
    return Array.from({ length: settings.howMany }, () => withPreviews)
  return [{ ...fieldsOf(settings, model, settings.howMany), partial_images: undefined }]
}
