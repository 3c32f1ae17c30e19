/** Whether scopes, which may be patterns such as Tools/* and *, hold a scope. */
export function holds(scopes: readonly string[], scope: string): boolean {
  const group = `${scope.split('/')[0]}/*`;
  return scopes.some((s) => s === '*' || s === scope || s === group);
}
