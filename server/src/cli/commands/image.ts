/** `torana image <prompt> --out <file>`: makes a picture. */
import { writeFileSync } from 'node:fs'
import { extname } from 'node:path'
import { command, Misuse } from '../command/command.ts'
import { CommandProblem } from '../client/command-problem.ts'
import { working } from '../command/progress.ts'

interface ImageAnswer {
  readonly data: readonly { readonly b64_json?: string }[]
}

const FORMATS: Readonly<Record<string, string>> = {
  '.png': 'png',
  '.jpg': 'jpeg',
  '.jpeg': 'jpeg',
  '.webp': 'webp',
}

export const image = command({
  name: 'image',
  summary: 'make an image from a text and write it to a file',
  arguments: [{ name: '<prompt>', says: 'what to draw' }],
  options: {
    out: { takes: '<file>', says: 'where it goes: .png, .jpg or .webp (torana.png)', short: 'o' },
    model: { takes: '<model>', says: 'the model (the first image model of the key)' },
    size: { takes: '<width>x<height>', says: 'such as 1024x1024' },
    quality: { takes: '<quality>', says: 'such as low' },
  },
  reach: 'gateway',
  examples: ['torana image "a lighthouse in the fog" --out lighthouse.png --size 512x512'],
  async run({ gateway, given: [prompt = ''], text, out }) {
    const file = text('out') ?? 'torana.png'
    const format = FORMATS[extname(file).toLowerCase()]
    if (format === undefined)
      throw new Misuse(`--out: expected a name that ends in .png, .jpg or .webp, got "${file}".`)
    const [size, quality] = [text('size'), text('quality')]
    const client = await gateway()
    const model = await client.model(text('model'), 'image')
    const asked = client.ask<ImageAnswer>('/images/generations', {
      model,
      prompt,
      response_format: 'b64_json',
      output_format: format,
      ...(size !== undefined && { size }),
      ...(quality !== undefined && { quality }),
    })
    const answer = await working('drawing', asked, out)
    const picture = answer.data[0]?.b64_json
    if (picture === undefined) throw new CommandProblem('The answer has no picture.')
    const bytes = Buffer.from(picture, 'base64')
    writeFileSync(file, bytes)
    return {
      data: { file, bytes: bytes.length, model },
      note: `${file}: ${bytes.length} bytes, by ${model}.`,
    }
  },
})
