/**
 * Keys of LiteLLM → keys of projects. LiteLLM stores SHA-256 hashes, which nobody can turn back: only keys whose text
 * somebody still has can be carried over.
 */
import { keyForm, MIN_KEY_LENGTH } from '#core/key.ts'
import { allowedModels, type KnownModels } from './litellm-access.ts'
import { joinRows, type JoinedRow, type Secret } from './litellm-joined.ts'
import { isTrue, textOf } from './litellm-read.ts'
import { namesOf, type Row } from './litellm-rows.ts'
import { uniqueName, type Projects, type Team } from './litellm-teams.ts'
import { budgetOf, expiryOf, leaveTerms, limitsOf } from './litellm-terms.ts'
import type { Notes } from './notes.ts'
import type { KeyDraft } from './torana-file.ts'
import type { Variables } from './variables.ts'

export interface KeyContext {
  readonly models: KnownModels
  readonly variables: Variables
  readonly notes: Notes
  readonly nowMs: number
}

export const TOO_SHORT = `keys need ${MIN_KEY_LENGTH} characters or more: make a new one with \`torana key\` and give it to its callers`

export function addKeys(rows: readonly Row[], projects: Projects, context: KeyContext): void {
  const { notes } = context
  const joined = joinRows(rows)
  const isExport = joined.some(({ isDescribed }) => isDescribed)
  for (const row of joined) {
    const name = textOf(row.fields['key_alias']) ?? textOf(row.fields['key_name']) ?? 'key'
    const team = projects.teamOf(row.fields)
    const models = allowedModels(namesOf(row.fields['models']), team.models, context.models)
    const reason = refusalOf(row, team, context.nowMs, isExport) ?? (models === 'none' ? NO_MODEL : undefined)
    if (reason !== undefined || row.secret === undefined) {
      notes.leave(row.place, name, reason ?? ONLY_HASH)
      continue
    }
    if (!team.isDescribed) notes.mention(row.place, name, UNKNOWN_TEAM)
    const project = projects.named(team.project)
    const key = draftOf(name, row, row.secret, team, project.keys, context)
    // The master key may stand in the table too.
    const others = [...projects.all.values()].flatMap(({ keys }) => keys)
    if (others.every(({ secret }) => secret !== key.secret))
      project.keys.push({ ...key, models: typeof models === 'string' ? undefined : models })
  }
}

const NO_MODEL = 'may use only models that are not carried over'
const ONLY_HASH =
  'only its hash is there, and a hash can not be turned back: make a new key, or add its text with another --keys'
const UNKNOWN_TEAM = 'the budget, limits and models of its team are not known: import them with --teams'

/** Why a key stays behind. */
function refusalOf(
  { fields, secret, isDescribed }: JoinedRow,
  team: Team,
  nowMs: number,
  isExport: boolean,
): string | undefined {
  if (isExport && !isDescribed) return 'is in no export of keys: was it deleted in LiteLLM?'
  if (isTrue(fields['blocked']) || team.isBlocked) return 'it or its team is blocked in LiteLLM'
  const expires = expiryOf(fields['expires'])
  if (textOf(fields['expires']) !== undefined && expires === undefined) return 'its expiry is no date'
  if (expires !== undefined && Date.parse(expires) <= nowMs) return 'it has expired'
  const routes = namesOf(fields['allowed_routes'])
  if (
    routes.length > 0 &&
    !routes.some((route) => /embeddings|llm_api_routes|openai_routes|\/\*$/.test(route))
  )
    return 'may not ask for embeddings in LiteLLM either (allowed_routes)'
  const form = secret === undefined ? undefined : keyForm(secret.text)
  if (form === 'too-short') return TOO_SHORT
  return form === 'bad-checksum' ? 'starts like a key of Torana (tr_) and is none' : undefined
}

function draftOf(
  wish: string,
  { fields, place }: JoinedRow,
  secret: Secret,
  team: Team,
  others: readonly KeyDraft[],
  { variables, notes }: KeyContext,
): KeyDraft {
  // Ten less than a name may have, for a number behind it.
  const name = uniqueName(wish.slice(0, 90), (candidate) => others.some((key) => key.name === candidate))
  const subject = `key ${name}`
  leaveTerms(subject, fields, place, notes)
  return {
    name,
    secret: variables.secret(`KEY_${team.project}_${name}`, secret.text, secret.place),
    expires: expiryOf(fields['expires']),
    limits: limitsOf(fields, subject, place, notes),
    budget: budgetOf(fields, subject, place, notes),
    comment: place,
  }
}
