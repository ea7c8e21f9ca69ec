/** Fields of torana.yaml and the built-in facts for a wire that edits images. */
import { z } from 'zod'

/** OpenAI takes 16 images; beyond this the number is a typo, and each of them is a file to send. */
const MAX_PICTURES = 64

const once = <Entry extends z.ZodType>(entry: Entry) =>
  z
    .array(entry)
    .refine((values) => new Set(values).size === values.length, 'names something twice')
    .optional()

const editFields = z.strictObject({
  maxInputs: z
    .int()
    .min(1)
    .max(MAX_PICTURES)
    .optional()
    .describe('Most input images of one call. Default 1.'),
  inputFormats: once(z.enum(['png', 'jpeg', 'webp']))
    .refine(isNotEmpty, 'needs at least one entry')
    .describe('Formats that it reads. Default `[png, jpeg, webp]`.'),
  mask: z
    .enum(['alpha', 'white', 'black', 'none'])
    .optional()
    .describe(
      'How the upstream reads a mask: the transparent part changes (`alpha`), or the part of a colour. Callers always send a transparent mask; Torana translates it. Default `none`: no masks.',
    ),
  markup: z
    .boolean()
    .optional()
    .describe('Whether it takes `markup`, a drawing on top of the input image. Default `false`.'),
  fidelities: once(z.string().min(1)).describe('Values of `input_fidelity`. Default none: no such option.'),
  bodies: once(z.enum(['multipart', 'json']))
    .refine(isNotEmpty, 'needs at least one entry')
    .describe(
      'OpenAI-compatible upstreams: how they take input images. Torana uses the first one for files; addresses need `json`. Default `[multipart]`.',
    ),
  imageField: z
    .enum(['image', 'image[]'])
    .optional()
    .describe(
      "OpenAI-compatible upstreams: how a form calls each of several input images. A single one is always `image`. Default `image[]`, as in OpenAI's API.",
    ),
  maxFileBytes: z.int().min(1).optional().describe('Largest file in bytes. Default 52428800.'),
})

/** Layer by layer: fields are added to those before, `none` takes back all that was said before it. */
export const edits = z
  .union([z.literal('none'), editFields])
  .optional()
  .describe(
    'Images: what it can do with input images: `none`, or a mapping that overrides the built-in facts. `{}` means one input image and no mask. Default: it makes images from text only.',
  )

export type EditFields = z.output<typeof editFields>
export type EditLayer = EditFields | 'none'

function isNotEmpty(values: readonly unknown[] | undefined): boolean {
  return values?.length !== 0
}
