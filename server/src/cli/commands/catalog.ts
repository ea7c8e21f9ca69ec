/** `torana catalog`: where the facts and prices of models in use come from, and how old they are. */
import { command } from '../command/command.ts'
import { tableOf, type Columns } from './columns.ts'

interface ReadFact {
  readonly as_of: string
  readonly is_old: boolean
}

interface FactRow {
  readonly model: string
  readonly deployment: string
  readonly facts: ReadFact | null
  readonly price: ReadFact | null
  readonly end: ReadFact | null
}

interface CatalogBody {
  readonly date: string
  readonly data: readonly FactRow[]
  readonly old_facts: number
}

const COLUMNS: Columns<FactRow> = {
  deployment: 'deployment',
  facts: ({ facts }) => factText(facts),
  price: ({ price }) => factText(price),
  end: ({ end }) => factText(end),
}

export const catalog = command({
  name: 'catalog',
  summary: 'show how old the built-in facts and prices of models in use are',
  reach: 'node',
  async run({ control }) {
    const data = await control.ask<CatalogBody>('GET', '/catalog')
    const old = data.old_facts === 0 ? '' : `\n${data.old_facts} facts were read more than 120 days ago.\n`
    return {
      data,
      text: `The catalogue of this version of Torana is of ${data.date}.\n\n${tableOf(COLUMNS, data.data)}${old}`,
    }
  },
})

function factText(fact: ReadFact | null): string {
  if (fact === null) return '-'
  return fact.is_old ? `${fact.as_of} (old)` : fact.as_of
}
