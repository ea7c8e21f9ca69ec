/** The fields of an upstream in torana.yaml: an endpoint and its credential. */
import { z } from 'zod'

const dialectName = z.enum(['openai', 'azure', 'ai-sdk', 'demo'])

const url = z
  .url({ protocol: /^https?$/, error: 'expected a URL such as https://api.example.com/v1' })
  .refine((text) => !/[?#]/.test(text), 'a base URL has no ? or #: paths are put behind it')
  .refine((text) => !hasCredentials(text), 'put credentials into apiKey or headers, not into the URL')

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is no valid header name')
const headerValue = z.string().regex(/^[\t\x20-\x7e]*$/, 'a header value is one line of ASCII text')

function pem(kind: string): z.ZodString {
  return z
    .string()
    .regex(
      new RegExp(`-----BEGIN ${kind}-----`),
      'expected text in PEM form: write ${NAME}, and the path of its file into the variable NAME_FILE',
    )
}

/** A server has one or two stores of files. */
const MAX_PICTURE_HOSTS = 32

/** As `URL.host` writes it: in lower case, and without the port of the scheme. */
const pictureHost = z
  .string()
  .refine(
    (text) =>
      /^[a-z0-9._:[\]-]+$/.test(text) &&
      [`http://${text}`, `https://${text}`].some((url) => URL.parse(url)?.host === text),
    'expected a host such as files.internal or localhost:8188, without a scheme, a path or capital letters',
  )

export const upstream = z.strictObject({
  dialect: z
    .union([
      dialectName,
      z.strictObject({
        embedding: dialectName.describe('The API for its embeddings.'),
        image: dialectName
          .optional()
          .describe('The API for its images. Default: what the provider uses, else the one for embeddings.'),
      }),
    ])
    .optional()
    .describe(
      'The API that the upstream speaks, or one for each kind of model. Default: what the provider uses; its images may have another API (Together AI).',
    ),
  provider: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The company or server family, with built-in facts: limits, prices, addresses. Default: `azure` for the azure dialect, `demo` for demo, and the provider whose published https address is exactly `baseUrl`.',
    ),
  baseUrl: url
    .optional()
    .describe(
      "The base URL. Torana adds paths such as `/embeddings`. Default: the provider's published one.",
    ),
  resource: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9-]*$/, 'expected the name of an Azure resource, not its address')
    .optional()
    .describe('Azure: the name of the resource. The same as `baseUrl: https://<resource>.openai.azure.com`.'),
  apiKey: z
    .string()
    .min(1)
    .optional()
    .describe('The credential. Absent: the one stored with `torana credentials`, else none.'),
  apiVersion: z
    .string()
    .regex(
      /^(v1|preview|\d{4}-\d{2}-\d{2}(-preview)?)$/,
      'expected v1, preview, or a dated version such as 2024-10-21',
    )
    .optional()
    .describe('Azure: a dated version selects the older path with the deployment in it. Default `v1`.'),
  headers: z.record(headerName, headerValue).optional().describe('Headers sent with every call.'),
  pictureHosts: z
    .array(pictureHost)
    .min(1)
    .max(MAX_PICTURE_HOSTS)
    .optional()
    .describe(
      "Images over OpenAI's wire: hosts in your network that links of this upstream may name, each exactly as in the link: `files.internal`, `localhost:8188`. Torana fetches images from there as they are, also over http. Default: only the origin of `baseUrl`, and https on the public internet.",
    ),
  tls: z
    .strictObject({
      ca: pem('CERTIFICATE')
        .optional()
        .describe('The certificate of the authority that signed the certificate of the upstream.'),
      cert: pem('CERTIFICATE').optional().describe('The certificate that Torana shows to the upstream.'),
      key: pem('[A-Z ]*PRIVATE KEY').optional().describe('The private key of `cert`.'),
    })
    .refine(({ cert, key }) => (cert === undefined) === (key === undefined), 'write cert and key, or neither')
    .refine((tls) => Object.keys(tls).length > 0, 'is empty: write ca, or cert and key')
    .optional()
    .describe(
      'Dialects openai and azure: certificates for an upstream in your network, in PEM form. Write `${NAME}` and put the path into the variable `NAME_FILE`. Default: the authorities of the public internet.',
    ),
  settings: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'ai-sdk: settings of the provider package (region, project, location…). Unknown settings are refused.',
    ),
})

export function hasCredentials(text: string): boolean {
  const parsed = URL.parse(text)
  return parsed !== null && (parsed.username !== '' || parsed.password !== '')
}
