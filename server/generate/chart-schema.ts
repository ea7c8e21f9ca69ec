/** The values of the Helm chart are described by hand; which variables there are is known here. */
import { environmentVariables, type Variable } from '#config/variables.ts'

/** What the chart sets itself. */
const OF_THE_CHART = ['PORT', 'HOST', 'CONTROL_PORT', 'CONTROL_HOST', 'TORANA_CONFIG', 'TORANA_DATA_DIR']

interface ChartSchema {
  readonly $defs: Record<'toranaVariable' | 'noPlainVariable', { enum: string[] }>
}

/** The schema with the names of today: a misspelt `TORANA_…` is refused, and so is a secret that is not in a Secret. */
export function chartSchemaJson(written: string): string {
  const schema = JSON.parse(written) as ChartSchema
  const names = Object.keys(environmentVariables)
  const variables: Readonly<Record<string, Variable>> = environmentVariables
  const secrets = Object.keys(variables).filter((name) => variables[name]?.secret === true)
  schema.$defs.toranaVariable.enum = names.filter(
    (name) => name.startsWith('TORANA_') && !OF_THE_CHART.includes(name),
  )
  schema.$defs.noPlainVariable.enum = [...OF_THE_CHART, ...secrets]
  return `${JSON.stringify(schema, null, 2)}\n`
}
