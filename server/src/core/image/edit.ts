/** Whether the images of an edit fit together, and the meaning of a form's texts. */
import { Fault } from '../fault/fault.ts'
import type { Given, GivenFile, GivenPictures } from './given.ts'

export function checkGiven({ pictures, mask, markup }: GivenPictures): void {
  const [first] = pictures
  if (first === undefined)
    throw new Fault(
      'missing_parameter',
      'image is missing. Send at least one image to edit, as a file called image. To make an image from text only, use /v1/images/generations.',
      { param: 'image' },
    )
  if (mask !== undefined && markup !== undefined)
    throw new Fault('invalid_parameter', 'mask and markup both say what to change. Send only one of them.', {
      param: 'markup',
    })
  checkOverlay('mask', mask, first)
  checkOverlay('markup', markup, first)
}

/** An overlay of the first image has the same size and transparent areas. Nothing is known about an address. */
function checkOverlay(param: 'mask' | 'markup', overlay: Given | undefined, first: Given): void {
  if (overlay?.kind !== 'file') return
  const problem = transparencyProblem(param, overlay) ?? sizeProblem(param, overlay, first)
  if (problem !== undefined) throw new Fault('invalid_image_file', problem, { param })
}

function transparencyProblem(param: string, { format, hasAlpha }: GivenFile): string | undefined {
  if (hasAlpha) return undefined
  const why =
    param === 'mask'
      ? 'the part to change must be fully transparent'
      : 'everything except the drawing must be transparent'
  return `${param} is a ${format} file without transparency; ${why}. Send a PNG with an alpha channel.`
}

function sizeProblem(param: string, overlay: GivenFile, first: Given): string | undefined {
  if (first.kind !== 'file') return undefined
  const { width, height, isTurned } = first
  const isSame = overlay.width === width && overlay.height === height
  // A camera's image may be stored lying on its side; people draw on it upright.
  const isUpright = isTurned && overlay.width === height && overlay.height === width
  if (isSame || isUpright) return undefined
  return `${param} is ${overlay.width}x${overlay.height} pixels and the first input image is ${width}x${height}. Send both in the same size.`
}

const NUMBERS: ReadonlySet<string> = new Set(['n', 'output_compression', 'partial_images', 'frame_count'])
/** As JavaScript and as Python write them. */
const SWITCHES: Readonly<Record<string, boolean>> = { true: true, false: false, True: true, False: false }

/** A form has only texts: those that mean numbers and switches are converted; an invalid number stays, and is refused by name. */
export function formFields(
  fields: readonly (readonly [name: string, text: string])[],
): Readonly<Record<string, unknown>> {
  // Without a prototype, a field called `__proto__` is a field like any other.
  const read = Object.create(null) as Record<string, unknown>
  for (const [name, text] of fields) {
    if (NUMBERS.has(name) && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) read[name] = Number(text)
    else if (name === 'stream' && Object.hasOwn(SWITCHES, text)) read[name] = SWITCHES[text]
    else read[name] = text
  }
  return read
}
