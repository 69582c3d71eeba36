import workflows from '../en/workflows.json';
import { addTexts } from './add-texts.ts';

await addTexts({ workflows }, () => import('../ja-lists.ts'));
