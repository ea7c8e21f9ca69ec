export const budgets = {
  title: 'Budgets',
}
