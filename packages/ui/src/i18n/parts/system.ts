import system from '../en/system.json';
import { addTexts } from './add-texts.ts';

addTexts({ system });
