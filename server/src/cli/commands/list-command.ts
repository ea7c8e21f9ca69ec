/** `torana <things> list`: a command that asks the control API for a list and prints it as a table. */
import type { Paging } from '../client/control-client.ts'
import { command, type Call, type Leaf, type LeafDeclaration, type Option } from '../command/command.ts'
import { tableOf, type Columns } from './columns.ts'
import { limitOf, queryOf } from './query.ts'

interface ListDeclaration<Name extends string> {
  /** Below `/api/v1`. */
  readonly path: string
  /** Options with a value become parameters of the query. `limit` bounds the list. */
  readonly options?: Readonly<Record<Name, Option>>
  /** Absent for a list that is answered whole. */
  readonly paging?: Paging
}

interface TableDeclaration<Name extends string, Row>
  extends
    ListDeclaration<Name>,
    Omit<LeafDeclaration<Name>, 'name' | 'reach' | 'run' | 'options' | 'arguments'> {
  readonly name?: string
  readonly columns: Columns<Row>
  /** Text instead of an empty table. */
  readonly none?: string
  /** Text below the table. */
  readonly footnote?: string
  /** Items that this call lists; all by default. */
  readonly includes?: (row: Row, call: Call<Name>) => boolean
  readonly exitCode?: (rows: readonly Row[]) => number
}

export function listCommand<Row, const Name extends string = never>(
  declared: TableDeclaration<Name, Row>,
): Leaf {
  const {
    path: _,
    paging: __,
    options,
    columns,
    none,
    footnote = '',
    includes,
    exitCode,
    ...described
  } = declared
  return command<Name>({
    name: 'list',
    reach: 'node',
    ...described,
    ...(options !== undefined && { options }),
    async run(call) {
      const all = await itemsFor<Row, Name>(call, declared)
      const data = includes === undefined ? all : all.filter((row) => includes(row, call))
      const text = tableOf(columns, data, none)
      return {
        data,
        text: data.length === 0 ? text : text + footnote,
        exitCode: exitCode?.(data) ?? 0,
      }
    },
  })
}

export async function itemsFor<Item, Name extends string>(
  { control, text }: Pick<Call<Name>, 'control' | 'text'>,
  { path, options, paging }: ListDeclaration<Name>,
  query = queryOf(options, text),
): Promise<readonly Item[]> {
  if (paging !== undefined) {
    const hasLimit = options !== undefined && 'limit' in options
    return control.items<Item>(path, query, paging, hasLimit ? limitOf(text('limit' as Name)) : Infinity)
  }
  return (await control.ask<{ readonly data: readonly Item[] }>('GET', `${path}?${query.toString()}`)).data
}
