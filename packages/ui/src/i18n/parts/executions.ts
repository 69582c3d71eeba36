import executions from '../en/executions.json';
import { addTexts } from './add-texts.ts';

addTexts({ executions });
