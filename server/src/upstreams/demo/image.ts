/** The image upstream of a first start: draws the prompt, so that the first image needs no key. */
import type { PixelSize } from '#core/catalog/catalog.ts'
import { UNKNOWN_TOKENS } from '#core/money/usage.ts'
import type { EditCall, ImageAnswer, ImageCall, ImageEvents, ImageUpstream } from '#ports/image-upstream.ts'
import { draw, type Drawing } from './drawing.ts'
import { DemoEdits } from './edit.ts'

const DEFAULT_SIZE = { width: 512, height: 512 }

export class DemoImage implements ImageUpstream {
  readonly #edits = new DemoEdits()

  generate(call: ImageCall, events: ImageEvents): Promise<ImageAnswer> {
    return call.edit === undefined ? this.#made(call, events) : this.#edited(call, call.edit, events)
  }

  async #made(call: ImageCall, events: ImageEvents): Promise<ImageAnswer> {
    const size = call.size ?? DEFAULT_SIZE
    const drawing = (number: number, progress: number): Drawing => ({
      text: call.prompt,
      label: `demo-image ${number + 1} of ${call.images}, ${size.width}x${size.height}`,
      ...size,
      isTransparent: call.background === 'transparent',
      progress,
    })
    const echoes = echoesOf(call, size)
    const previews = call.partialImages ?? 0
    for (let index = 0; index < previews; index += 1) {
      const bytes = await draw(drawing(0, (index + 1) / (previews + 1)))
      events.partial({ index, bytes, echoes })
    }
    const pictures = []
    for (let number = 0; number < call.images; number += 1)
      pictures.push({ bytes: await draw(drawing(number, 1)), revisedPrompt: undefined })
    return { pictures, tokens: UNKNOWN_TOKENS, echoes, extraFields: {} }
  }

  async #edited(call: ImageCall, edit: EditCall, events: ImageEvents): Promise<ImageAnswer> {
    let index = 0
    const { size, pictures } = await this.#edits.draw(call, edit, (preview) => {
      events.partial({ index, bytes: preview.bytes, echoes: echoesOf(call, preview.size) })
      index += 1
    })
    return {
      pictures: pictures.map((bytes) => ({ bytes, revisedPrompt: undefined })),
      tokens: UNKNOWN_TOKENS,
      echoes: echoesOf(call, size),
      extraFields: {},
    }
  }
}

function echoesOf({ background }: ImageCall, { width, height }: PixelSize): ImageAnswer['echoes'] {
  return {
    size: `${width}x${height}`,
    output_format: 'png',
    background: background === 'transparent' ? 'transparent' : 'opaque',
  }
}
