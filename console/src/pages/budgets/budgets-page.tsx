import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function BudgetsPage() {
  return <Page title={words.budgets.title} />
}
