/** What a scenario can ask for of inputs that have parts, beside the traits of all wires. */
export const contentTraits = {
  'max-parts-N': '400 for more parts in one input',
  'max-images-N': '400 for more images in one input, in the place of the bound that the wire has',
  'takes-KINDS': '400 for parts of other kinds than text and these: image, audio, video, file, joined with -',
  'other-image-encoder': 'vectors of inputs with an image are of another space; those of texts alone stay',
  'image-noise-N':
    'every value of a vector of an input with an image is off by up to N millionths, in another way at each call',
} as const satisfies Record<string, string>

export type ContentTrait = keyof typeof contentTraits
