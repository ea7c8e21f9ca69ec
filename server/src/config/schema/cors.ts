/** `cors` of torana.yaml. */
import { z } from 'zod'

/** Each answer is held against all of them. */
const MAX_ORIGINS = 100

/** As browsers send it: scheme, host and port alone, in lower case. Desktop apps have schemes of their own. */
const origin = z
  .string()
  .regex(
    /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.\-[\]:]+$/,
    'expected an origin such as https://app.example.com: scheme, host and port, in lower case, without a path',
  )

export const cors = z.strictObject({
  origins: z
    .union([z.literal('*'), z.array(origin).min(1).max(MAX_ORIGINS)])
    .describe('Origins of these web pages, such as `https://app.example.com`; `"*"`: every web page.'),
})
