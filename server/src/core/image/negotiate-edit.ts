/** Whether a deployment can edit the images of a request, and how they are sent to it. */
import type { EditBody, ImageDeployment, ImageEdits, ImageModel } from '../catalog/catalog.ts'
import { carriesUnknownFields, type Refusal } from '../request/offers.ts'
import { givenIn, type Given, type ImageEdit } from './given.ts'

export interface OfferedEdit {
  readonly body: EditBody
  /** The mask is converted into one that marks by this colour. */
  readonly maskColour: 'white' | 'black' | undefined
  /** `input_fidelity` in the deployment's words. */
  readonly fidelity: string | undefined
}

export interface EditLimits {
  /** Bytes of files for a wire that can't stream from disk. */
  readonly bufferedEditBytes: number
}

/** An input that a deployment would not read leads to a refusal: no caller would notice that it was left out. */
export function editFor(
  edit: ImageEdit,
  model: ImageModel,
  deployment: ImageDeployment,
  limits: EditLimits,
): OfferedEdit | Refusal {
  const { edits } = deployment.capabilities
  if (edits === undefined)
    return {
      param: 'image',
      message: `'${model.id}' makes images from text only. GET /v1/models says which models edit images.`,
    }
  const refusal =
    countRefusal(edit, edits, model) ??
    overlayRefusal(edit, edits, model) ??
    fileRefusal(edit, edits, model) ??
    bufferRefusal(edit, deployment, limits)
  if (refusal !== undefined) return refusal
  const body = bodyFor(edit, deployment, edits)
  if (typeof body !== 'string') return body
  const isTranslated = edit.mask !== undefined && edits.mask !== 'alpha'
  const maskColour = isTranslated ? colourOf(edits) : undefined
  return { body, maskColour, fidelity: edit.fidelity }
}

function colourOf({ mask }: ImageEdits): 'white' | 'black' | undefined {
  return mask === 'alpha' ? undefined : mask
}

function countRefusal(
  { pictures }: ImageEdit,
  { maxInputs }: ImageEdits,
  { id }: ImageModel,
): Refusal | undefined {
  if (pictures.length <= maxInputs) return undefined
  const most = maxInputs === 1 ? 'one input image' : `${maxInputs} input images`
  return {
    param: 'image',
    message: `'${id}' takes at most ${most} per request; ${pictures.length} were sent.`,
  }
}

function overlayRefusal(
  { mask, markup, fidelity }: ImageEdit,
  edits: ImageEdits,
  { id }: ImageModel,
): Refusal | undefined {
  if (mask !== undefined && edits.mask === undefined)
    return {
      param: 'mask',
      message: `'${id}' takes no mask: it would change the whole image. Say in the prompt what to change, or use a model with masks.`,
    }
  if (mask?.kind === 'address' && edits.mask !== 'alpha')
    return {
      param: 'mask',
      message: `'${id}' needs a mask in ${edits.mask}, and Torana cannot convert a mask that is only an address. Send the mask as a file.`,
    }
  if (markup !== undefined && !edits.markup)
    return { param: 'markup', message: `'${id}' takes no markup. Remove it, or use a mask.` }
  if (fidelity === undefined || edits.fidelities.includes(fidelity)) return undefined
  const takes =
    edits.fidelities.length === 0 ? 'has no input_fidelity' : `takes: ${edits.fidelities.join(', ')}`
  return {
    param: 'input_fidelity',
    message: `input_fidelity is ${JSON.stringify(fidelity)}; '${id}' ${takes}. Change or remove it.`,
  }
}

function fileRefusal(edit: ImageEdit, edits: ImageEdits, { id }: ImageModel): Refusal | undefined {
  for (const [param, given] of named(edit)) {
    if (given.kind !== 'file') continue
    // A converted mask is sent as PNG, whatever it was.
    const isSentAsItIs = param !== 'mask' || edits.mask === 'alpha'
    if (isSentAsItIs && !edits.inputFormats.includes(given.format))
      return {
        param,
        message: `${param} is a ${given.format} file; '${id}' reads: ${edits.inputFormats.join(', ')}.`,
      }
    if (given.bytes > edits.maxFileBytes)
      return {
        param,
        message: `${param} has ${given.bytes} bytes; '${id}' takes at most ${edits.maxFileBytes} a file.`,
      }
  }
  return undefined
}

function bufferRefusal(
  edit: ImageEdit,
  deployment: ImageDeployment,
  { bufferedEditBytes }: EditLimits,
): Refusal | undefined {
  const bytes = givenIn(edit).reduce((sum, given) => sum + (given.kind === 'file' ? given.bytes : 0), 0)
  if (carriesUnknownFields(deployment) || bytes <= bufferedEditBytes) return undefined
  return {
    param: 'image',
    message: `The files have ${bytes} bytes in total. Torana must hold files for ${deployment.id} in memory, and accepts at most ${bufferedEditBytes} bytes. Send smaller files.`,
  }
}

/** Addresses go only to deployments that fetch by themselves. */
function bodyFor(edit: ImageEdit, deployment: ImageDeployment, { bodies }: ImageEdits): EditBody | Refusal {
  const [first = 'multipart'] = bodies
  const address = named(edit).find(([, given]) => given.kind === 'address')
  if (address === undefined) return first
  if (carriesUnknownFields(deployment) && bodies.includes('json')) return 'json'
  const [param] = address
  return {
    param,
    message: `${param} is an address, and ${deployment.id} takes files only. Send the image itself, as a file or a data URL.`,
  }
}

function named({ pictures, mask, markup }: ImageEdit): (readonly [param: string, given: Given])[] {
  return [
    ...pictures.map((given) => ['image', given] as const),
    ...(mask ? [['mask', mask] as const] : []),
    ...(markup ? [['markup', markup] as const] : []),
  ]
}
