export const welcome = {
  title: 'Welcome',
}
