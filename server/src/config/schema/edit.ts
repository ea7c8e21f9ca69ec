/** What torana.yaml and the built-in facts may say of a wire that takes pictures to edit. */
import { z } from 'zod'

/** OpenAI takes 16 pictures; beyond this the number is a typing error, and each of them is a file to send. */
const MOST_PICTURES = 64

const once = <Entry extends z.ZodType>(entry: Entry) =>
  z
    .array(entry)
    .refine((values) => new Set(values).size === values.length, 'names something twice')
    .optional()

const editFields = z.strictObject({
  maxInputs: z
    .int()
    .min(1)
    .max(MOST_PICTURES)
    .optional()
    .describe('Most pictures one call may be given. Default 1.'),
  inputFormats: once(z.enum(['png', 'jpeg', 'webp']))
    .refine(isNotEmpty, 'needs at least one entry')
    .describe('Formats it reads. Default `[png, jpeg, webp]`.'),
  mask: z
    .enum(['alpha', 'white', 'black', 'none'])
    .optional()
    .describe(
      'How a mask marks what is to change: by being transparent there (`alpha`), or of a colour. Callers send it transparent; it is made into the other. Default `none`: it takes no mask.',
    ),
  markup: z
    .boolean()
    .optional()
    .describe('Whether it takes `markup`, a drawing on top of the picture. Default `false`.'),
  fidelities: once(z.string().min(1)).describe(
    'Which `input_fidelity` it takes. Default none: it has no such option.',
  ),
  bodies: once(z.enum(['multipart', 'json']))
    .refine(isNotEmpty, 'needs at least one entry')
    .describe(
      'Wires of the OpenAI family: how they take pictures. The first is used for files; addresses go in JSON alone. Default `[multipart]`.',
    ),
  maxFileBytes: z.int().min(1).optional().describe('Largest single file in bytes. Default 52428800.'),
})

/** Layer by layer: fields are added to those before, `none` takes back all that was said before it. */
export const edits = z
  .union([z.literal('none'), editFields])
  .optional()
  .describe(
    'Images: what it can do with pictures it is given: `none`, or a mapping, over what is known of it. `{}` is one picture and no mask. Default: it makes pictures from text alone.',
  )

export type EditFields = z.output<typeof editFields>
export type EditLayer = EditFields | 'none'

function isNotEmpty(values: readonly unknown[] | undefined): boolean {
  return values?.length !== 0
}
