/** What a scenario can ask for when pictures come with the call, beside the traits of all wires and of pictures. */
export const editTraits = {
  'no-edits': '404 for the path of edits, as from a server that has none',
  'json-only': '415 for an edit as a form',
  'multipart-only': '415 for an edit as JSON',
  'no-mask': '400 when a mask is sent',
  'mask-white': 'the mask is read by brightness, white is edited; alpha means nothing',
  'mask-black': 'the mask is read by brightness, black is edited; alpha means nothing',
  'ignores-mask': 'a broken server: the mask is taken and everything is edited',
  'one-image': '400 for more than one picture to edit',
  'file-bytes-N': '400 for a file of more bytes',
  'strict-types': '400 for a file that is not labelled image/png, image/jpeg or image/webp',
  'hash-only': 'the bytes of a form are never kept: the sums are in the log, the answer is a drawing',
  'cuts-upload-N': 'the connection is reset after N bytes of the body, nothing served',
  'early-refusal': '400 before the body is read',
} as const satisfies Record<string, string>

export type EditTrait = keyof typeof editTraits
