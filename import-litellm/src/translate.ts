/** A LiteLLM configuration → a torana.yaml. */
import { keyForm, MIN_KEY_LENGTH, type Facts, type Source } from 'torana/config'
import { addAliases, addFallbacks } from './links.ts'
import { translateModels } from './models.ts'
import { fieldsOf, listOf, textOf, variableOf, type Fields } from './read.ts'
import { leaveSettings, readSettings } from './settings.ts'
import { Notes } from './notes.ts'
import type { KeyDraft, ToranaFile } from './torana-file.ts'
import { Variables, type Written } from './variables.ts'

export interface Translation {
  readonly file: ToranaFile
  readonly notes: Notes
  readonly variables: Variables
}

/** `text` is what `config` was read from. */
export function translate(config: Source, text: string, facts: Facts): Translation {
  const root = fieldsOf(config.data)
  const placeOf = (path: readonly (string | number)[]) => config.report.place(path)
  const notes = new Notes()
  const environment = readEnvironment(root, placeOf)
  // Whatever the file calls a variable keeps its meaning, so that no made-up name takes it over.
  const named = [...text.matchAll(/os\.environ\/(\w+)/g)].map(([, name = '']) => name)
  const variables = new Variables(environment, new Set([...environment.keys(), ...named]))

  if (root['model_list'] != null && !Array.isArray(root['model_list']))
    notes.leave(placeOf(['model_list']), 'model_list', 'is no list')
  const settings = readSettings(root, placeOf, notes)
  const options = {
    ...settings,
    credentials: readCredentials(root),
    placeOf: (index: number, ...path: string[]) => placeOf(['model_list', index, ...path]),
  }
  const models = translateModels(root['model_list'], options, { facts, variables, notes })
  addAliases(settings.aliases, models, notes)
  addFallbacks(settings.fallbacks, models, notes)

  const masterKey = masterKeyOf(root, environment, placeOf, { variables, notes })
  leaveSettings(root, placeOf, notes)
  const isUsed = (name: string) => variables.all().some((variable) => variable.name === name)
  for (const [name, { place }] of environment) {
    if (!isUsed(name)) notes.leave(place, name, 'variables that the new file does not need')
  }
  return {
    file: { upstreams: models.upstreams, models: models.models, masterKey },
    notes,
    variables,
  }
}

const TOO_SHORT = `keys need ${MIN_KEY_LENGTH} characters or more: make a new one with \`torana key\` and give it to its callers`

type PlaceOf = (path: readonly (string | number)[]) => string

/** `environment_variables`: what LiteLLM sets for itself. */
function readEnvironment(root: Fields, placeOf: PlaceOf): Map<string, Written> {
  const entries = Object.entries(fieldsOf(root['environment_variables'])).flatMap(([name, given]) => {
    const value = variableOf(given) === undefined ? textOf(given) : undefined
    return value === undefined
      ? []
      : [[name, { value, place: placeOf(['environment_variables', name]) }] as const]
  })
  return new Map(entries)
}

function readCredentials(root: Fields): Map<string, Fields> {
  const entries = listOf(root['credential_list']).flatMap((item) => {
    const { credential_name: name, credential_values: values } = fieldsOf(item)
    return typeof name === 'string' ? [[name, fieldsOf(values)] as const] : []
  })
  return new Map(entries)
}

/** In LiteLLM it may do everything; in Torana it is a key for all models. */
function masterKeyOf(
  root: Fields,
  environment: ReadonlyMap<string, Written>,
  placeOf: PlaceOf,
  { variables, notes }: { readonly variables: Variables; readonly notes: Notes },
): KeyDraft | undefined {
  const name = 'general_settings.master_key'
  const place = placeOf(name.split('.'))
  const stated = fieldsOf(root['general_settings'])['master_key']
  const isSet = environment.has('LITELLM_MASTER_KEY')
  const given = stated ?? (isSet ? 'os.environ/LITELLM_MASTER_KEY' : undefined)
  const variable = variableOf(given)
  const text = variable === undefined ? textOf(given) : environment.get(variable)?.value
  if (given == null) {
    const advice =
      'if LiteLLM gets one from LITELLM_MASTER_KEY, start Torana with TORANA_BOOTSTRAP_KEY set to it'
    notes.mention(place, `no ${name}`, advice)
    return undefined
  }
  if (variable === undefined && text === undefined) return notes.leave(place, name, 'is no text')
  if (text !== undefined && keyForm(text) !== 'foreign' && keyForm(text) !== 'torana')
    return notes.leave(place, name, TOO_SHORT)
  const wanted = `${MIN_KEY_LENGTH} characters or more, or Torana refuses it`
  const secret =
    variable === undefined
      ? variables.secret('MASTER_KEY', text ?? '', place)
      : variables.reference(variable, place, undefined, wanted)
  const comment = `${place}. Here it is a key for all models, and no more than that`
  return { name: 'litellm-master-key', secret, comment }
}
