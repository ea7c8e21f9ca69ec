/** Images to be edited on the OpenAI wire: as files of a form, or as URLs in JSON. They go from disk to socket. */
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { EditCall, GivenPicture, ImageCall } from '#ports/image-upstream.ts'
import type { StreamedBody } from '../connect/sent-body.ts'
import { imageFields } from './image.ts'
import { joinedBody, type JsonPart } from './json-body.ts'
import { multipartForm, type FormFile } from './multipart-body.ts'

export interface EditContent {
  readonly contentType: string
  readonly body: StreamedBody
}

/** The fields of images. An extra field of the same name is refused. */
const PICTURE_FIELDS = ['image', 'image[]', 'images', 'mask', 'markup']

export function editBody(call: ImageCall, edit: EditCall): EditContent {
  const taken = PICTURE_FIELDS.find((field) => Object.hasOwn(call.extraFields, field))
  if (taken !== undefined) throw refused(call, `'${taken}' can not be sent beside the pictures`)
  return edit.body === 'json' ? jsonContent(call, edit) : formContent(call, edit)
}

function formContent(call: ImageCall, { pictures, mask, markup }: EditCall): EditContent {
  const texts: [string, string][] = []
  for (const [field, value] of Object.entries(imageFields(call))) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    // JSON omits it as well.
    if (text !== undefined) texts.push([field, text])
  }
  const several = call.deployment.capabilities.edits?.imageField ?? 'image[]'
  const field = pictures.length === 1 ? 'image' : several
  const files = pictures.map((picture, index) => formFile(call, field, `image-${index + 1}`, picture))
  if (mask !== undefined) files.push(formFile(call, 'mask', 'mask', mask))
  if (markup !== undefined) files.push(formFile(call, 'markup', 'markup', markup))
  return multipartForm(texts, files)
}

function formFile(call: ImageCall, field: string, name: string, picture: GivenPicture): FormFile {
  if (picture.kind === 'address') throw refused(call, `a form has no place for the address of '${field}'`)
  const { format, size } = picture
  return {
    field,
    filename: `${name}.${format}`,
    contentType: `image/${format}`,
    size,
    open: () => picture.open(),
  }
}

function jsonContent(call: ImageCall, { pictures, mask, markup }: EditCall): EditContent {
  const fields = JSON.stringify(imageFields(call))
  const parts: JsonPart[] = [`${fields.slice(0, -1)},"images":[`]
  for (const [index, picture] of pictures.entries()) parts.push(index === 0 ? '' : ',', ...reference(picture))
  parts.push(']')
  if (mask !== undefined) parts.push(',"mask":', ...reference(mask))
  if (markup !== undefined) parts.push(',"markup":', ...reference(markup))
  parts.push('}')
  return { contentType: 'application/json', body: joinedBody(parts) }
}

function reference(picture: GivenPicture): JsonPart[] {
  if (picture.kind === 'address') return [JSON.stringify({ image_url: picture.url })]
  const { format, size } = picture
  return [`{"image_url":"data:image/${format};base64,`, { size, open: () => picture.open() }, '"}']
}

function refused(call: ImageCall, message: string): UpstreamFailure {
  return new UpstreamFailure('refused', message, { deployment: call.deployment.id, charge: 'none' })
}
