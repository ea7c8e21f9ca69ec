/** Faults of contents: images, audio, video and PDF among the inputs. */
import type { FaultEntry } from './entry.ts'

const badRequest = { status: 400, type: 'invalid_request_error', retry: false, who: 'caller' } as const

export const CONTENT_FAULTS = {
  ambiguous_input: {
    ...badRequest,
    meaning:
      '`input`, or one entry of it, is a string that as a whole is a data URI of an image, audio, video or PDF. A string is a text: its vector would be that of the base64 characters, and no search would find the image.',
    nextStep:
      'Send the media as a content, `{"content": [{"type": "image_url", "image_url": {"url": "data:…"}}]}`, to a model that takes it. If you want the vector of the characters themselves, put a word before them: a text that only contains a data URI is accepted.',
  },
  part_unsupported: {
    ...badRequest,
    meaning: 'No deployment of the model takes a part of the content: its kind, its format, or an address.',
    nextStep:
      'Use one of the models that the message names, convert the part named in `param`, or leave it out.',
  },
  parts_not_fusible: {
    ...badRequest,
    meaning:
      'A content has several parts, and the model makes a vector of one part only. Torana never averages vectors: the average is in no space.',
    nextStep: 'Send each part as an input of its own, or use a model that fuses parts.',
  },
  too_many_parts: {
    ...badRequest,
    meaning: 'A content has more parts or images than one vector may be made of.',
    nextStep: 'Divide the content named in `param` into several inputs.',
  },
  invalid_media: {
    ...badRequest,
    meaning:
      'Torana does not accept an image, audio, video or PDF of the request. It may be in another format than those that `/v1/embeddings` takes, be animated or damaged, or not be base64. The first bytes decide the format, whatever the request declares.',
    nextStep:
      'Correct the part named in `param`. The message says what is wrong with it. Convert other formats before sending.',
  },
  media_too_large: {
    ...badRequest,
    status: 413,
    meaning:
      'An image, audio, video or PDF of the request has more bytes, pixels, seconds or pages than one part may have.',
    nextStep:
      'Make the part named in `param` smaller, or cut it into pieces and embed each. Operators: raise `limits.contentPartBytes`, `limits.maxPicturePixels`, `limits.maxPictureEdge`, `limits.maxContentSeconds` or `limits.maxContentPages`.',
  },
  media_unreachable: {
    ...badRequest,
    meaning:
      'A part of the request is an address, and Torana could not fetch an image, audio, video or PDF from it within 30 seconds. Addresses must be on the public internet.',
    nextStep: 'Correct the address named in `param`, or send the bytes themselves, as a data URL.',
  },
} as const satisfies Readonly<Record<string, FaultEntry>>
