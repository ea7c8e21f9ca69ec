/** What a deployment takes besides texts, in torana.yaml and in the built-in facts. */
import { z } from 'zod'
import { CONTENT_WIRES } from '#core/catalog/content-capabilities.ts'
import { MEDIA_FORMATS, PART_KINDS, type MediaFormat } from '#core/content/content.ts'

const count = () => z.int().min(1)

const format = z.enum(Object.keys(MEDIA_FORMATS) as [MediaFormat, ...MediaFormat[]])

export const contents = z.strictObject({
  wire: z
    .enum(CONTENT_WIRES)
    .describe('The wire on which it takes contents. All its calls use it, those with texts alone too.'),
  inputs: z
    .array(z.enum(PART_KINDS as ['text', ...('image' | 'audio' | 'video' | 'file')[]]))
    .min(1)
    .describe('What a part may be: `text`, `image`, `audio`, `video`, `file` (a PDF).'),
  fuses: z
    .boolean()
    .optional()
    .describe('Whether the model makes one vector of several parts. Default `false`.'),
  maxParts: count().optional().describe('Most parts of one content. Default 1; 16 if it fuses.'),
  maxImages: count().optional().describe('Most images of one call. Absent: no limit.'),
  maxPartBytes: count().optional().describe('Largest part in bytes, before base64. Absent: no limit.'),
  maxCallBytes: count().optional().describe('Most bytes of media in one call. Absent: no limit.'),
  maxPixels: count().optional().describe('Most pixels of one image. Absent: no limit.'),
  maxSeconds: count().optional().describe('Longest audio or video in seconds. Absent: no limit.'),
  maxPages: count().optional().describe('Most pages of one PDF. Absent: no limit.'),
  formats: z
    .array(format)
    .optional()
    .describe(
      'Formats of media, as their first bytes say. Default: those that `inputs` needs, of the most common ones.',
    ),
  fetches: z.boolean().optional().describe('Whether it fetches https addresses itself. Default `false`.'),
})

export const mediaTokens = z.strictObject({
  pixelsPerToken: count().optional().describe('Pixels of one token of an image.'),
  maxPerImage: count().optional().describe('Most tokens of one image.'),
  perAudioSecond: count().optional().describe('Tokens of a second of audio.'),
  perVideoSecond: count().optional().describe('Tokens of a second of video.'),
  perPage: count().optional().describe('Tokens of a page of a PDF.'),
})

export type ContentFields = z.output<typeof contents>
