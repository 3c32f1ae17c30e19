import { ApiError } from '../../api/client';
import { formField } from '../../lib/alerts';

/** The field of the form that a refusal is about; '' for none. */
export function refusedField(error: unknown): string {
  return error instanceof ApiError ? formField(error.field) : '';
}
