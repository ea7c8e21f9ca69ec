import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function ModelsPage() {
  return <Page title={words.models.title} />
}
