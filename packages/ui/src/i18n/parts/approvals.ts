import approvals from '../en/approvals.json';
import { addTexts } from './add-texts.ts';

await addTexts({ approvals }, () => import('../ja-runs.ts'));
