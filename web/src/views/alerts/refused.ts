import { ApiError } from '../../api/client';

/** The field that a refusal names; '' for none. */
export function fieldOf(error: unknown): string {
  const field = error instanceof ApiError ? (error.details as { field?: unknown } | undefined)?.field : undefined;
  return typeof field === 'string' ? field : '';
}
