export const usage = {
  title: 'Usage & cost',
}
