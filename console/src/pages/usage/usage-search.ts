/** What stands in the address of the page. */
import type { RangeSearch } from '../../time/range.ts'
import type { UsageGroup } from '../../api/usage-groups.ts'
import type { Show } from '../../parts/usage/usage-groups.ts'

export interface UsageSearch extends RangeSearch {
  by?: UsageGroup
  show?: Show
  only?: string[]
  before?: true
  sort?: string
  project?: string
}
