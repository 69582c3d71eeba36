import commands from '../en/commands.json';
import { addTexts } from './add-texts.ts';

await addTexts({ commands }, () => import('../ja-lists.ts'));
