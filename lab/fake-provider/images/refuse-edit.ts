import type { Scenario } from '../traits.ts'
import { Refusal } from '../wire.ts'
import type { Given } from './given.ts'

/** OpenAI's bound. */
const maxImages = 16

const pictureTypes = new Set(['image/jpeg', 'image/png', 'image/webp'])

/** Refuses pictures that the scenario does not take. */
export function refuseGiven(scenario: Scenario, { parts, images, mask }: Given): void {
  const most = scenario.has('one-image') ? 1 : (scenario.amount('max-inputs-N') ?? maxImages)
  if (images.length > most) {
    throw new Refusal(
      400,
      `Invalid 'image': array too long. Expected an array with maximum length ${most}, but got an array with length ${images.length} instead.`,
      { code: 'array_above_max_length', param: 'image' },
    )
  }
  if (mask !== null && scenario.has('no-mask')) {
    throw new Refusal(400, "'mask' is not supported.", { code: 'unsupported_parameter', param: 'mask' })
  }
  for (const { name, type, bytes } of parts) {
    const param = name.replace('[]', '')
    const maxBytes = scenario.amount('file-bytes-N') ?? Infinity
    if (bytes > maxBytes) {
      throw new Refusal(400, `Invalid '${param}': the file has ${bytes} bytes, at most ${maxBytes} fit.`, {
        code: 'file_too_large',
        param,
      })
    }
    if (scenario.has('strict-types') && type !== null && !pictureTypes.has(type)) {
      throw new Refusal(
        400,
        `Invalid file '${param}': unsupported mimetype ('${type}'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.`,
        { code: 'unsupported_file_mimetype', param },
      )
    }
  }
}
