/** Google Vertex AI and Amazon Bedrock, which sign in with more than a key. */
import { HOST_SETTINGS } from 'torana/config'
import { addressOf, type Bad } from './address.ts'
import { keyOf, plainOf, secretOf, type Placed } from './credentials.ts'
import type { Context, Home } from './home.ts'

/** What LiteLLM falls back to. */
const LITELLM_VERTEX_LOCATION = 'us-central1'
/** For a variable whose value is not known here. */
const EXAMPLE_REGION = 'us-east-1'

export function vertexHome({ params, at }: Placed, { variables, notes }: Context): Home | Bad {
  const provider = 'google-vertex'
  const location =
    plainOf(params['vertex_location'], at('vertex_location'), variables, LITELLM_VERTEX_LOCATION) ??
    LITELLM_VERTEX_LOCATION
  if (!fits(location, HOST_SETTINGS[provider].location)) return { reason: 'its vertex_location is not one' }
  const credentials = params['vertex_credentials']
  const isPath = typeof credentials === 'string' && !credentials.trimStart().startsWith('{')
  const keyFilename = isPath ? plainOf(credentials, at('vertex_credentials'), variables) : undefined
  if (keyFilename !== undefined)
    notes.mention(
      at('vertex_credentials'),
      'vertex_credentials',
      'must name a file: Torana does not take its content',
    )
  else if (credentials != null)
    notes.leave(
      at('vertex_credentials'),
      'vertex_credentials',
      "credentials as text: put them into a file and name it in GOOGLE_APPLICATION_CREDENTIALS, which Google's own look-up reads",
    )
  return {
    wish: 'vertex',
    provider,
    draft: {
      provider,
      settings: {
        project:
          plainOf(params['vertex_project'], at('vertex_project'), variables) ??
          variables.reference('VERTEXAI_PROJECT'),
        location,
        ...(keyFilename === undefined ? {} : { googleAuthOptions: { keyFilename } }),
      },
    },
  }
}

/** It becomes part of the host that calls go to. The value of a variable is checked when Torana starts. */
function fits(text: string, { pattern }: { readonly pattern: RegExp }): boolean {
  return text.startsWith('${') || pattern.test(text)
}

const AWS_ROLES = ['aws_profile_name', 'aws_role_name', 'aws_session_name', 'aws_web_identity_token']

/** LiteLLM takes the region from the model's path too: `us-west-2/amazon.titan-embed-text-v1`. */
const REGION = /^([a-z]{2}(?:-[a-z]+)+-\d)\//

export function bedrockHome(model: string, placed: Placed, { variables, notes }: Context): Home | Bad {
  const { params, at } = placed
  const provider = 'amazon-bedrock'
  const region =
    REGION.exec(model)?.[1] ??
    plainOf(params['aws_region_name'], at('aws_region_name'), variables, EXAMPLE_REGION) ??
    variables.reference('AWS_REGION_NAME', undefined, EXAMPLE_REGION)
  if (!fits(region, HOST_SETTINGS[provider].region)) return { reason: 'its AWS region is not one' }
  const wish = /^[a-z0-9-]+$/.test(region) ? `bedrock-${region}` : 'bedrock'
  const endpoint = addressOf(
    params['aws_bedrock_runtime_endpoint'],
    '',
    at('aws_bedrock_runtime_endpoint'),
    variables,
  )
  if (endpoint !== undefined && 'reason' in endpoint) return endpoint
  const roles = AWS_ROLES.filter((name) => params[name] != null)
  if (roles.length > 0)
    notes.leave(
      at(roles[0] ?? ''),
      roles.join(', '),
      'Torana signs in to AWS with keys only; the new file asks for them',
    )
  const apiKey = keyOf(undefined, wish, placed, variables)
  const secret = (field: string, fallback: string) => secretOf(params[field], fallback, at(field), variables)
  const keys =
    apiKey === undefined
      ? {
          accessKeyId: secret('aws_access_key_id', 'AWS_ACCESS_KEY_ID'),
          secretAccessKey: secret('aws_secret_access_key', 'AWS_SECRET_ACCESS_KEY'),
          sessionToken:
            params['aws_session_token'] == null
              ? undefined
              : secret('aws_session_token', 'AWS_SESSION_TOKEN'),
        }
      : {}
  return {
    wish,
    provider,
    model: model.replace(REGION, ''),
    draft: { provider, baseUrl: endpoint?.text, apiKey, settings: { region, ...keys } },
  }
}
